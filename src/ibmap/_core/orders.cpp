#include "orders.hpp"

#include <algorithm>
#include <numeric>

namespace ibmap {

namespace {

constexpr std::size_t COMPARED = 400;  // families that a new one is compared with: those after it are rarely parts of it

bool is_part(const FamilyLists::Family& part, const FamilyLists::Family& whole) {
    return !(part.signature & ~whole.signature) &&
           std::includes(whole.members.begin(), whole.members.end(), part.members.begin(), part.members.end());
}

bool comes_first(const FamilyLists::Family& one, const FamilyLists::Family& other) {
    if (one.value != other.value) return one.value > other.value;
    if (one.members.size() != other.members.size()) return one.members.size() < other.members.size();
    return one.members < other.members;
}

void shuffle(std::vector<int>& values, Stream& random) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(random, i)]);
}

}  // namespace

void FamilyLists::note(int x, std::span<const int> parents, double value) {
    std::uint64_t hash = mix(std::uint64_t(x) + 1), signature = 0;
    for (int p : parents) hash = mix(hash + std::uint64_t(p) + 1), signature |= 1ull << p % 64;
    if (known_.insert(hash).second) noted_[x].push_back({value, signature, {parents.begin(), parents.end()}});
}

void FamilyLists::sort() {
    for (int x = 0; x < n(); ++x) {
        if (noted_[x].empty()) continue;
        auto& list = lists_[x];
        std::vector<Family> every = std::move(list);
        std::move(noted_[x].begin(), noted_[x].end(), std::back_inserter(every));
        noted_[x].clear(), list.clear();
        std::sort(every.begin(), every.end(), comes_first);
        for (Family& family : every) {
            const auto end = list.begin() + std::ptrdiff_t(std::min(list.size(), COMPARED));
            if (std::none_of(list.begin(), end, [&](const Family& before) { return is_part(before, family); })) list.push_back(std::move(family));
            if (list.back().members.empty()) break;  // nothing is a part of all that follow
        }
    }
}

OrderSearch::OrderSearch(const FamilyLists& families, Stream& random)
    : families_(families), random_(random), n_(families.n()), uses_(n_), place_(n_), best_(n_), gains_(n_), first_(n_) {
    for (int x = 0; x < n_; ++x)
        for (std::size_t f = 0; f < families[x].size(); ++f)
            for (int p : families[x][f].members) {
                if (uses_[p].empty() || uses_[p].back().x != x) uses_[p].push_back({x, {}});
                uses_[p].back().families.push_back(int(f));
            }
}

// The first family of x, from one on, whose members all stand before a place.
int OrderSearch::best_before(int x, int place, int from, int without) const {
    const auto& list = families_[x];
    for (int f = from; f < int(list.size()); ++f)
        if (std::all_of(list[f].members.begin(), list[f].members.end(), [&](int p) { return place_[p] < place && p != without; })) return f;
    return int(list.size()) - 1;  // the last has no members
}

// The family that a variable would have if v stood before it, too.
int OrderSearch::better_with(const Use& use, int v) const {
    const auto& list = families_[use.x];
    for (int f : use.families) {
        if (f >= best_[use.x]) break;
        if (std::all_of(list[f].members.begin(), list[f].members.end(), [&](int p) { return p == v || place_[p] < place_[use.x]; })) return f;
    }
    return best_[use.x];
}

void OrderSearch::begin(std::vector<int> order) {
    order_ = std::move(order);
    for (int i = 0; i < n_; ++i) place_[order_[i]] = i;
    for (int x = 0; x < n_; ++x) best_[x] = best_before(x, place_[x]);
}

double OrderSearch::score() const {
    double total = 0.0;
    for (int x = 0; x < n_; ++x) total += value(x, best_[x]);
    return total;
}

Parents OrderSearch::parents() const {
    Parents out;
    for (int x = 0; x < n_; ++x) out.push_back(families_[x][std::size_t(best_[x])].members);
    return out;
}

void OrderSearch::climb() {
    std::vector<int> every(n_);
    std::iota(every.begin(), every.end(), 0);
    bool moved = true;
    for (int sweep = 0; moved && sweep < SWEEPS; ++sweep) {
        moved = false;
        shuffle(every, random_);
        for (int v : every) moved |= improve(v);
    }
}

// Move v to where the order is worth most. On its way to the left it becomes a candidate of those that it passes, who may gain, and loses them;
// to the right it is the other way round.
bool OrderSearch::improve(int v) {
    const auto& list = families_[v];
    const int here = place_[v], mine = best_[v];
    std::fill(gains_.begin(), gains_.end(), 0.0);
    for (const Use& use : uses_[v]) {
        const int x = use.x, place = place_[x];
        if (place < here) {
            gains_[place] = value(x, better_with(use, v)) - value(x, best_[x]);
        } else if (std::binary_search(use.families.begin(), use.families.end(), best_[x])) {
            gains_[place] = value(x, best_before(x, place, best_[x] + 1, v)) - value(x, best_[x]);
        }
    }
    double largest = GAIN, others = 0.0;
    int to = -1;
    for (int j = here - 1, f = mine; j >= 0; --j) {
        others += gains_[j];
        f = best_before(v, j, f);
        if (const double gain = others + list[f].value - list[mine].value; gain > largest) largest = gain, to = j;
    }
    std::fill(first_.begin(), first_.end(), mine);  // the first family that is complete when v stands after a place
    for (int f = mine - 1; f >= 0; --f) {
        int last = 0;
        for (int p : list[f].members) last = std::max(last, place_[p]);
        first_[last] = f;
    }
    others = 0.0;
    for (int j = here + 1, f = mine; j < n_; ++j) {
        others += gains_[j], f = std::min(f, first_[j]);
        if (const double gain = others + list[f].value - list[mine].value; gain > largest) largest = gain, to = j;
    }
    if (to < 0) return false;
    move(v, to);
    return true;
}

void OrderSearch::move(int v, int to) {
    const int from = place_[v];
    const auto at = order_.begin();
    if (to < from) std::rotate(at + to, at + from, at + from + 1);
    else std::rotate(at + from, at + from + 1, at + to + 1);
    for (int i = std::min(from, to); i <= std::max(from, to); ++i) place_[order_[i]] = i;
    for (const Use& use : uses_[v])
        if (const int place = place_[use.x]; std::min(from, to) <= place && place <= std::max(from, to)) best_[use.x] = best_before(use.x, place);
    best_[v] = best_before(v, to);
}

std::vector<int> OrderSearch::order_of(const Parents& parents) {
    std::vector<int> ready, waiting(n_), order;
    std::vector<std::vector<int>> children(n_);
    for (int x = 0; x < n_; ++x) {
        waiting[x] = int(parents[x].size());
        for (int p : parents[x]) children[p].push_back(x);
        if (!waiting[x]) ready.push_back(x);
    }
    while (!ready.empty()) {
        std::swap(ready[below(random_, ready.size())], ready.back());
        const int v = ready.back();
        ready.pop_back(), order.push_back(v);
        for (int child : children[v])
            if (!--waiting[child]) ready.push_back(child);
    }
    return order;
}

void OrderSearch::disturb(std::vector<int>& order, int times) {
    for (int k = 0; k < times; ++k) {
        const auto from = order.begin() + std::ptrdiff_t(below(random_, order.size()));
        const int v = *from;
        order.erase(from);
        order.insert(order.begin() + std::ptrdiff_t(below(random_, order.size() + 1)), v);
    }
}

}  // namespace ibmap
