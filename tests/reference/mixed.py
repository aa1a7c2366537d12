"""Evidence of x given its blanket where variables are levels, ordered levels or numbers: slow, to be read.

Every variable is a block of columns: contrasts of its levels, a score of ordered levels, or a standardised
number divided by √2, of which a second column (its square, made orthogonal) may enter as well. The effects of
x have a common scale v = 4^k that nobody knows, k = 0 ... 5, each a fourth as likely as the one before.
Main effects of the members that have levels are mixed with a full table of these.
"""

from dataclasses import dataclass
from math import lgamma

import numpy as np

VAGUE, PRECISION = 0.02, 4.0  # of intercepts; of an effect between two columns at scale 1
SCALES = 4.0 ** np.arange(6)
SHARES = np.log(0.25) * np.arange(6) - np.log((0.25 ** np.arange(6)).sum())
GIVE_UP = 5.0  # log units below the best scale
BENT = np.log(0.05)  # log share of numbers that enter with two columns
STRAIGHT = np.log(0.95)
STRONG = 1.0  # length of an effect that is judged by a fit without it
UNSURE = 3.0  # t of a member below which it is made exact
CERTAIN = 20.0  # t of a member that stays, beyond which it is made exact only on request
UNLIKELY = -4.0  # evidence by mean weights below which nothing more exact is made
FULL, PRIOR_COUNT = 0.01, 0.5  # prior share of full tables; of a level in each of their slices
BLOCK = 24  # parameters of an effect beyond which nothing more exact is made, and H is approximated


@dataclass
class Column:
    """A variable: ``kind`` is "nominal", "ordinal" or "number"; codes (-1 missing), or two columns (NaN)."""

    kind: str
    codes: np.ndarray | None = None
    levels: int = 0
    numbers: np.ndarray | None = None  # (2, rows)

    @property
    def known(self):
        return self.codes >= 0 if self.numbers is None else ~np.isnan(self.numbers[0])

    @property
    def entries(self):
        """(levels, columns): what a level is in a design."""
        r = self.levels
        if self.kind == "ordinal" and r > 2:
            return ((np.arange(r) - (r - 1) / 2) * np.sqrt(12 / (r * (r + 1))))[:, None]
        return contrasts(r)


def contrasts(r):
    before = np.arange(1, r)
    below = np.where(np.arange(r)[:, None] < before, -1.0, 0.0)
    below[before, before - 1] = before
    return below / np.sqrt(before * (before + 1.0))


class Table:
    """Columns as designs: what is missing is the mean of what is not."""

    def __init__(self, columns, weights=None, prior_rows=0.0):
        self.columns, self.n, self.prior_rows = columns, len(columns), prior_rows
        n_rows = len(columns[0].known)
        self.w = np.ones(n_rows) if weights is None else np.asarray(weights, float)
        self.known = np.array([column.known for column in columns])
        self.designs = [self._design(column) for column in columns]  # (columns, rows) of each

    def _design(self, column):
        if column.numbers is not None:
            return np.nan_to_num(np.asarray(column.numbers, float))
        out = column.entries[np.maximum(column.codes, 0)].T.copy()
        known = column.known
        total = self.w[known].sum()
        out[:, ~known] = ((out[:, known] @ self.w[known]) / max(total, 1e-300))[:, None]
        return out

    def design(self, members, bent, rows):
        """(columns, rows) of all members, and where each begins and ends."""
        blocks = [
            self.designs[m][: 2 if m in bent else 1] if self.is_number(m) else self.designs[m]
            for m in members
        ]
        ends = np.cumsum([0, *map(len, blocks)])
        return np.concatenate([np.empty((0, rows.sum())), *[block[:, rows] for block in blocks]]), ends

    def is_number(self, v):
        return self.columns[v].numbers is not None


def row(table, x, blanket, exact=False):
    """Return s_x(B), and t_xy of all y: what x loses without a member, or gains with another."""
    blanket = sorted(blanket)
    return number_row(table, x, blanket) if table.is_number(x) else level_row(table, x, blanket, exact)


def mixture(values):
    """Return log Σ of scales, and the log posterior of each."""
    found = np.asarray(values) + SHARES[: len(values)]
    total = np.logaddexp.reduce(found)
    return total, found - total


def tried(fit):
    """Return what fits at scales find, from the smallest one up to where there is nothing more to find."""
    found, best = [], -np.inf
    for k in range(len(SCALES)):
        found.append(fit(k))
        now = found[-1] + SHARES[k]
        if now < best - GIVE_UP:
            break
        best = max(best, now)
    return found


def with_bend(table, y, one, both):
    """Return the evidence of y, whether it enters with one column or with two."""
    return np.logaddexp(STRAIGHT + one, BENT + both) if table.is_number(y) else both


def centred(values, w):
    """Return columns without their means."""
    return values - (values @ w / w.sum())[:, None]


# --- x a number: linear regressions, exact


def regression(table, x, columns, rows, scale):
    """Return s_x with some columns (against none), by the marginal likelihood of a conjugate regression."""
    w = table.w[rows]
    z, X = np.sqrt(2) * centred(table.designs[x][:1, rows], w)[0], centred(columns, w)
    lam, m = 2 * PRECISION / scale, w.sum() - 1 + table.prior_rows
    A, b, tss = (X * w) @ X.T + lam * np.eye(len(X)), (X * w) @ z, (w * z) @ z
    tss *= 1 + table.prior_rows / w.sum()  # rows that nobody explains
    rss = max(tss - b @ np.linalg.solve(A, b), 1e-10 * tss)
    return -0.5 * np.linalg.slogdet(A / lam)[1] - 0.5 * m * np.log(rss / tss)


def number_row(table, x, blanket):
    rows = table.known[x]
    t = np.zeros(table.n)
    if not rows.any() or not np.ptp(table.designs[x][0, rows]):
        return 0.0, t
    numbers = [v for v in blanket if table.is_number(v)]
    straight, _ = table.design(blanket, (), rows)
    first = regression(table, x, straight, rows, 1.0)
    squares = {v: np.concatenate([straight, table.designs[v][1:2, rows]]) for v in numbers}
    bent = [v for v in numbers if regression(table, x, squares[v], rows, 1.0) - first > STRAIGHT - BENT]
    bonus = BENT * len(bent) + STRAIGHT * (len(numbers) - len(bent))
    design, ends = table.design(blanket, bent, rows)
    values = tried(lambda k: regression(table, x, design, rows, SCALES[k]))
    if not len(design):
        values = [0.0] * len(SCALES)
    total, posterior = mixture(values)
    for y in range(table.n):
        if y == x:
            continue
        if y in blanket:
            j = blanket.index(y)
            without = np.delete(design, np.s_[ends[j] : ends[j + 1]], axis=0)
            less = [regression(table, x, without, rows, SCALES[k]) for k in range(len(values))]
            t[y] = total - np.logaddexp.reduce(np.array(less) + SHARES[: len(values)])
            t[y] += (BENT if y in bent else STRAIGHT) if table.is_number(y) else 0.0
        else:
            gains = []
            for k in range(len(values)):
                more = [
                    regression(table, x, np.concatenate([design, block[:, rows]]), rows, SCALES[k])
                    - values[k]
                    for block in (table.designs[y][:1], table.designs[y])
                ]
                gains.append(with_bend(table, y, *more))
            t[y] = np.logaddexp.reduce(posterior + gains)
    return total + bonus, t


# --- x has levels: log-linear, Laplace's approximation


class Fit:
    """log p(x = l) = C_l · α + Σ_f S_lf (θ_f · d): its mode, and the negative Hessian H there."""

    def __init__(self, codes, r, ordinal, X, w, precision, large=False):
        self.C, self.X, self.w, self.codes = contrasts(r), X, w, codes
        self.S = Column("ordinal", levels=r).entries if ordinal else self.C
        self.q, self.e, self.precision = r - 1, self.S.shape[1], precision
        self.prior = np.r_[np.full(self.q, VAGUE), np.full(self.e * len(X), precision)]
        theta = np.zeros(len(self.prior))
        share = np.array([w[codes == level].sum() + 0.5 for level in range(r)])
        theta[: self.q] = self.C.T @ np.log(share)
        for _ in range(100):
            value, g = self.slope(theta)
            step = np.linalg.solve(self.H, g)
            if g @ step < 1e-20:
                break
            length = 1.0
            while self.slope(theta + length * step)[0] < value - 1e-13 * abs(value) and length > 1e-8:
                length /= 2
            theta = theta + length * step
        value, _ = self.slope(theta)
        self.theta, self.effects = theta, theta[self.q :].reshape(self.e, len(X))
        if large:  # as if every row had the mean weights
            design = np.concatenate([np.ones((1, len(w))), X])
            both = np.kron(self.W.sum(axis=2) / w.sum(), (design * w) @ design.T)
            by_function = np.arange(len(both)).reshape(self.e, len(design))
            order = np.r_[by_function[:, 0], by_function[:, 1:].ravel()]
            self.H = both[np.ix_(order, order)] + np.diag(self.prior)
        self.value = value + 0.5 * np.log(self.prior).sum() - 0.5 * np.linalg.slogdet(self.H)[1]

    def slope(self, theta):
        effects = theta[self.q :].reshape(self.e, len(self.X))
        odds = (self.C @ theta[: self.q])[:, None] + self.S @ (effects @ self.X)
        odds = odds - np.logaddexp.reduce(odds, axis=0)
        p, rows = np.exp(odds), np.arange(len(self.codes))
        hot = np.zeros_like(p)
        hot[self.codes, rows] = 1.0
        left = (hot - p) * self.w
        self.R = self.S.T @ left

        def cov(A, B):
            means = np.einsum("fi,gi->fgi", A.T @ p, B.T @ p)
            return (np.einsum("lf,lg,li->fgi", A, B, p) - means) * self.w

        self.W, self.WC = cov(self.S, self.S), cov(self.S, self.C)
        size = self.e * len(self.X)
        H = np.zeros((self.q + size, self.q + size))
        H[: self.q, : self.q] = cov(self.C, self.C).sum(axis=2)
        H[self.q :, : self.q] = np.einsum("fai,ji->fja", self.WC, self.X).reshape(size, self.q)
        H[: self.q, self.q :] = H[self.q :, : self.q].T
        H[self.q :, self.q :] = np.einsum("fgi,ji,ki->fjgk", self.W, self.X, self.X).reshape(size, size)
        self.F = H.copy()
        self.H = H + np.diag(self.prior)
        g = np.r_[self.C.T @ left.sum(axis=1), (self.R @ self.X.T).ravel()] - self.prior * theta
        value = float(self.w @ odds[self.codes, rows]) - 0.5 * float(self.prior @ theta**2)
        return value, g

    def one_step(self, columns, precision):
        """Return the evidence of more columns by one step from the mode, with any precision of effects."""
        e, r = self.e, len(columns)
        u = (self.R @ columns.T).ravel()
        inner = np.einsum("fgi,ji,ki->fjgk", self.W, columns, columns).reshape(e * r, e * r)
        cross = np.concatenate(
            [
                np.einsum("fai,ji->fja", self.WC, columns).reshape(e * r, self.q),
                np.einsum("fgi,ji,ki->fjgk", self.W, columns, self.X).reshape(e * r, e * len(self.X)),
            ],
            axis=1,
        )
        H = self.F + np.diag(np.r_[self.prior[: self.q], np.full(e * len(self.X), precision)])
        A = inner - cross @ np.linalg.solve(H, cross.T) + precision * np.eye(e * r)
        return 0.5 * u @ np.linalg.solve(A, u) - 0.5 * np.linalg.slogdet(A / precision)[1]

    def inside(self, first, last):
        """Return the evidence of columns of the design, by their effects and their block of H⁻¹."""
        width = len(self.X)
        at = np.array([self.q + f * width + j for f in range(self.e) for j in range(first, last)], int)
        S = np.linalg.inv(self.H)[np.ix_(at, at)]
        effect = self.theta[at]
        return 0.5 * effect @ np.linalg.solve(S, effect) + 0.5 * np.linalg.slogdet(S * self.precision)[1]


def is_large(table, x):
    """Whether the largest effect that x could have is too large for more than mean weights."""
    most = max(len(design) for design in table.designs)
    return table.columns[x].kind == "nominal" and (table.columns[x].levels - 1) * most > BLOCK


def fit_levels(table, x, blanket, rows):
    """Return the fit at the best scale, fits at all scales, s_x(B), who is bent, and the bonus of that."""
    column = table.columns[x]
    ordinal = column.kind == "ordinal" and column.levels > 2

    def fit(bent, scale):
        X, _ = table.design(blanket, bent, rows)
        precision = PRECISION / scale
        large = is_large(table, x)
        return Fit(column.codes[rows], column.levels, ordinal, X, table.w[rows], precision, large)

    def of_square(v):
        square = table.designs[v][1:2]
        if is_large(table, x):
            return by_mean_weights(table, first, blanket, (), rows, square, [PRECISION])[0]
        return first.one_step(square[:, rows], PRECISION)

    numbers = [v for v in blanket if table.is_number(v)]
    first = fit((), 1.0)
    bent = [v for v in numbers if of_square(v) > STRAIGHT - BENT]
    bonus = BENT * len(bent) + STRAIGHT * (len(numbers) - len(bent))
    if not len(first.X):
        return first, [first] * len(SCALES), first.value, bent, 0.0
    fits = []
    tried(lambda k: fits.append(fit(bent, SCALES[k])) or fits[-1].value)
    total, posterior = mixture([one.value for one in fits])
    return fits[int(np.argmax(posterior))], fits, total, bent, bonus


def by_mean_weights(table, model, blanket, bent, rows, columns, precisions):
    """Return the evidence of more columns as if every row had the mean weights, by precision of effects."""
    mean = model.W.sum(axis=2) / model.w.sum()
    design, _ = table.design(blanket, bent, np.ones_like(rows))
    w = table.w
    X, Y = centred(design, w), centred(columns, w)
    lam = model.precision / (np.trace(mean) / model.e)
    G, cross = (X * w) @ X.T + lam * np.eye(len(X)), (Y * w) @ X.T
    S = ((Y * w) @ Y.T - cross @ np.linalg.solve(G, cross.T)) * (w[rows].sum() / w.sum())
    weights, by_x = np.linalg.eigh(mean)
    spread, by_y = np.linalg.eigh(S)
    u = by_x.T @ (model.R @ columns[:, rows].T) @ by_y
    info = np.maximum(weights, 0.0)[:, None] * np.maximum(spread, 0.0)
    return [(0.5 * u**2 / (info + p) - 0.5 * np.log1p(info / p)).sum() for p in precisions]


def main_row(table, x, blanket, rows, exact):
    """Return s_x(B) and t_xy by main effects alone, on some rows."""
    t = np.zeros(table.n)
    model, fits, total, bent, bonus = fit_levels(table, x, blanket, rows)
    _, posterior = mixture([one.value for one in fits])
    precisions = PRECISION / SCALES[: len(fits)]
    _, ends = table.design(blanket, bent, rows)
    for j, y in enumerate(blanket):
        width = slice(ends[j], ends[j + 1])
        inside = np.array([one.inside(ends[j], ends[j + 1]) for one in fits])
        t[y] = -np.logaddexp.reduce(posterior - inside)
        t[y] += (BENT if y in bent else STRAIGHT) if table.is_number(y) else 0.0
        is_strong = (model.effects[:, width] ** 2).sum() > STRONG**2
        if t[y] < UNSURE or (is_strong and (exact or t[y] < CERTAIN)):
            rest = [v for v in blanket if v != y]
            _, _, less, _, less_bonus = fit_levels(table, x, rest, rows)
            t[y] = total + bonus - less - less_bonus
    for y in range(table.n):
        if y == x or y in blanket:
            continue
        blocks = (table.designs[y][:1], table.designs[y])
        screened = [by_mean_weights(table, model, blanket, bent, rows, block, precisions) for block in blocks]
        t[y] = np.logaddexp.reduce(posterior + with_bend(table, y, *map(np.array, screened)))
        small = model.e * len(blocks[1]) <= BLOCK and not is_large(table, x)
        if len(model.X) and t[y] > UNLIKELY and small:
            exact_ones = [[model.one_step(block[:, rows], p) for p in precisions] for block in blocks]
            t[y] = np.logaddexp.reduce(posterior + with_bend(table, y, *map(np.array, exact_ones)))
    return total + bonus, t


def full_table(table, x, members, rows):
    """Return the log evidence of a table of x: a Dirichlet-multinomial for each configuration of members."""
    codes = np.array([table.columns[v].codes[rows] for v in (*members, x)])
    counts = {}
    for *key, level, w in zip(*codes.tolist(), table.w[rows].tolist(), strict=True):
        slices = counts.setdefault(tuple(key), {})
        slices[level] = slices.get(level, 0.0) + w
    r = table.columns[x].levels

    def rise(a, n):
        return lgamma(a + n) - lgamma(a)

    return sum(
        sum(rise(PRIOR_COUNT, n) for n in counts_of_x.values())
        - rise(PRIOR_COUNT * r, sum(counts_of_x.values()))
        for counts_of_x in counts.values()
    )


def level_row(table, x, blanket, exact):
    """Return s_x(B) and t_xy: main effects, and what the mixture with full tables has more than these.

    Main effects are those of the rows that know x, full tables of the rows that know all of their variables.
    """
    own = table.known[x] & (table.w > 0)
    if table.columns[x].levels < 2 or not own.any():
        return 0.0, np.zeros(table.n)
    value, t = main_row(table, x, blanket, own, exact)
    coded = [v for v in blanket if table.columns[v].levels > 1]
    rows = own & table.known[coded].all(axis=0)
    if not rows.any():
        return value, t
    is_same = coded == blanket and (rows == own).all()
    main, main_t = (value, t.copy()) if is_same else main_row(table, x, coded, rows, exact)
    equal = fit_levels(table, x, [], rows)[2] - full_table(table, x, [], rows)

    def more(members, odds):
        """Return what the mixture has more than main effects; tables of more cells than rows say nothing."""
        cells = np.prod([float(table.columns[v].levels) for v in (x, *members)])
        if len(members) < 2 or cells > table.w.sum():
            return 0.0
        return np.logaddexp(0.0, np.log(FULL) - np.log1p(-FULL) + equal + odds)

    odds = full_table(table, x, coded, rows) - main
    now = more(coded, odds)
    for y in range(table.n):
        if y == x or table.columns[y].levels < 2:  # numbers have none
            continue
        if y in coded:
            rest = [v for v in coded if v != y]
            t[y] += now - more(rest, full_table(table, x, rest, rows) - (main - main_t[y]))
        else:
            known = rows & table.known[y]
            gain = full_table(table, x, [*coded, y], known) - full_table(table, x, coded, known)
            t[y] += more([*coded, y], odds + gain - main_t[y]) - now
    return value + now, t
