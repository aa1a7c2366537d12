// Workspaces for threads of Python that ask at the same time.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

namespace ibmap {

// Workspaces that calls lend and give back: any number of threads of Python may ask at the same time.
template <class Work>
class Spare {
  public:
    template <class Make>
    std::unique_ptr<Work> take(Make make) {
        {
            const std::lock_guard lock(guard_);
            if (!spare_.empty()) {
                auto work = std::move(spare_.back());
                spare_.pop_back();
                return work;
            }
        }
        return make();
    }
    void give(std::unique_ptr<Work> work) {
        const std::lock_guard lock(guard_);
        spare_.push_back(std::move(work));
    }

    void forget() {
        const std::lock_guard lock(guard_);
        spare_.clear();
    }

  private:
    std::mutex guard_;
    std::vector<std::unique_ptr<Work>> spare_;
};

}  // namespace ibmap
