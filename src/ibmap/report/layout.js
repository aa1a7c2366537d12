// Where names stand: in pixels, without covering each other; and how lines go round names that they do not join.

const GAP = 6,
  MARGIN = 14;
const nodesOf = nodes.names.map(() => []); // the variables of each node: several, if they are copies
nodes.of.forEach((node, i) => nodesOf[node].push(i));
const neighboursOf = nodes.names.map((_, node) => [
  ...new Set(
    nodesOf[node]
      .flatMap((i) => edgesOf[i].filter(isEdge).sort(byStrength).map((k) => nodes.of[other(k, i)]))
      .filter((next) => next !== node),
  ),
]);

const MOST = 40; // nodes in a neighbourhood
const plan = { width: 1, height: 1, boxes: new Map(), routes: new Map() };

/** Lay out what is drawn: the whole network, or the variables around one of them. */
function layOut() {
  const wide = Math.max(280, at("network").clientWidth),
    longest = wide < 500 ? 13 : 26,
    places = state.around === null ? nodes.places.map((place, node) => [node, place]) : around(state.around),
    ink = document.createElement("canvas").getContext("2d");
  plan.font = places.length > 15 ? 13 : 15;
  ink.font = `${plan.font}px system-ui, sans-serif`;
  plan.boxes = new Map(
    places.map(([node, place]) => {
      const text = short(nodes.names[node], longest * (nodesOf[node].length > 1 ? 1.5 : 1));
      return [node, { node, text, place, w: Math.max(28, ink.measureText(text).width + 16), h: plan.font + 11 }];
    }),
  );
  const boxes = [...plan.boxes.values()],
    area = boxes.reduce((sum, { w, h }) => sum + (w + 2 * GAP) * (h + 2 * GAP), 0),
    low = Math.min(480, Math.max(300, 0.62 * wide)),
    high = Math.max(low, Math.min(760, 2.1 * wide)),
    height = Math.min(high, Math.max(low, (5 * area) / wide)),
    more = Math.max(1, Math.sqrt((3.2 * area) / (wide * height))); // what does not fit is drawn smaller
  Object.assign(at("network").style, { height: `${height}px`, fontSize: `${plan.font}px` });
  Object.assign(plan, { width: wide * more, height: height * more });
  for (const box of boxes) {
    box.x = box.w / 2 + MARGIN + box.place[0] * (plan.width - box.w - 2 * MARGIN);
    box.y = box.h / 2 + MARGIN + (1 - box.place[1]) * (plan.height - box.h - 2 * MARGIN);
  }
  separate(boxes);
  plan.routes.clear();
  showWhole();
}

/** The variables within two steps of one, in two rings, in a square of side one. */
function around(centre) {
  const first = neighboursOf[centre].slice(0, MOST / 2),
    seen = new Set([centre, ...first]),
    found = [[centre, [0.5, 0.5]]],
    room = Math.max(2, Math.floor((MOST - first.length) / Math.max(1, first.length)));
  first.forEach((node, n) => {
    const angle = (2 * Math.PI * n) / first.length - Math.PI / 2,
      next = neighboursOf[node].filter((one) => !seen.has(one)).slice(0, room);
    const spot = (turn, radius) => [0.5 + radius * Math.cos(turn), 0.5 + radius * Math.sin(turn)];
    found.push([node, spot(angle, 0.26)]);
    next.forEach((one, m) => {
      seen.add(one);
      const apart = (2 * Math.PI * ((m + 0.5) / next.length - 0.5)) / first.length;
      found.push([one, spot(angle + (first.length > 1 ? 0.9 : 0.4) * apart, 0.5)]);
    });
  });
  return found;
}

/** Push names apart until none covers another. */
function separate(boxes) {
  const within = (box) => {
    box.x = Math.min(plan.width - box.w / 2 - 2, Math.max(box.w / 2 + 2, box.x));
    box.y = Math.min(plan.height - box.h / 2 - 2, Math.max(box.h / 2 + 2, box.y));
  };
  for (let round = 0, moved = true; moved && round < 150; round += 1) {
    moved = false;
    for (let i = 0; i < boxes.length; i += 1)
      for (let j = 0; j < i; j += 1) {
        const [a, b] = [boxes[i], boxes[j]],
          across = (a.w + b.w) / 2 + 2 * GAP - Math.abs(a.x - b.x),
          down = (a.h + b.h) / 2 + 1.5 * GAP - Math.abs(a.y - b.y);
        if (across <= 0 || down <= 0) continue;
        moved = true;
        const [axis, by] = across < down ? ["x", across] : ["y", down],
          way = (a[axis] >= b[axis] ? 0.5 : -0.5) * (by + 0.5);
        a[axis] += way;
        b[axis] -= way;
        within(a);
        within(b);
      }
  }
}

const MOST_BENT = 120; // names beyond which all lines are straight
const BENDS = [0, 0.1, -0.1, 0.2, -0.2, 0.35, -0.35];
const middle = (a, b, bend) => [(a.x + b.x) / 2 + bend * (b.y - a.y), (a.y + b.y) / 2 - bend * (b.x - a.x)];

/** The line between two nodes, bent so that it crosses as few names as can be. */
function route(one, two) {
  const key = `${one} ${two}`;
  if (!plan.routes.has(key)) {
    const [a, b] = [plan.boxes.get(one), plan.boxes.get(two)],
      others = [...plan.boxes.values()].filter((box) => box !== a && box !== b);
    const crossed = (bend) => {
      const [mx, my] = middle(a, b, bend),
        steps = [...Array(14).keys()].map((n) => (n + 1) / 15);
      const spots = steps.map((t) => [
        (1 - t) ** 2 * a.x + 2 * t * (1 - t) * mx + t * t * b.x,
        (1 - t) ** 2 * a.y + 2 * t * (1 - t) * my + t * t * b.y,
      ]);
      if (spots.some(([x, y]) => x < 0 || y < 0 || x > plan.width || y > plan.height)) return Infinity;
      return others.filter(({ x, y, w, h }) =>
        spots.some(([sx, sy]) => Math.abs(sx - x) < w / 2 + 2 && Math.abs(sy - y) < h / 2 + 2),
      ).length;
    };
    let [best, fewest] = [0, plan.boxes.size <= MOST_BENT ? Infinity : 0];
    for (const bend of BENDS) {
      if (!fewest) break;
      const n = crossed(bend);
      if (n < fewest) [best, fewest] = [bend, n];
    }
    plan.routes.set(key, `M${a.x} ${a.y}Q${middle(a, b, best).join(" ")} ${b.x} ${b.y}`);
  }
  return plan.routes.get(key);
}
