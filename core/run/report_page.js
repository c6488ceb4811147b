"use strict";
// Draws the report from the JSON in #data. Every text from there goes through textContent or an attribute.

const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");

// ---- Elements, numbers, times

function fillElement(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== undefined && value !== null) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
const html = (tag, attributes, ...children) => fillElement(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fillElement(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const words = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };
/// A number of the JSON, where NaN and the infinities are words; null: there is none.
const numberOf = (value) => (typeof value === "string" ? words[value] : value === undefined ? null : value);
const numbersOf = (list) => (list || []).map(numberOf);

function text(value, decimals = 2) {
  const number = numberOf(value);
  if (number === null) return "–";
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  return number.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).replace("-", "−");
}
/// Where a mean of nothing is NaN: a dash.
const known = (value, decimals = 2, scale = 1, unit = "") => {
  const number = numberOf(value);
  return number === null || Number.isNaN(number) ? "–" : text(number * scale, decimals) + unit;
};
const money = (value) => text(value).replace(/^(−?)/, "$1$$");
const short = (v) => {
  const size = Math.abs(v);
  if (size >= 1e4 && size < 1e15) {
    const power = Math.min(4, Math.floor(Math.log10(size) / 3));
    return Number((v / 1000 ** power).toPrecision(3)) + ["", "k", "M", "G", "T"][power];
  }
  return size !== 0 && (size < 1e-3 || size >= 1e15) ? v.toExponential(1) : String(Number(v.toPrecision(4)));
};
const exact = (v) => (Number.isFinite(v) ? String(Number(v.toPrecision(4))) : text(v)).replace("-", "−");
const signed = (v) => (v > 0 ? "+" : "") + v;
const time = (ms) => new Date(ms).toISOString().slice(0, 16).replace("T", " ");
const day = (ms) => time(ms).slice(0, 10);
const colour = (i) => `var(--c${i % 6})`;

// ---- Charts

function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw);
  const list = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9 && list.length < 50; ++i) list.push(i * step);
  return list;
}

function extent(lists) {
  let low = Infinity, high = -Infinity;
  for (const list of lists)
    for (const v of list)
      if (v !== null && Number.isFinite(v)) low = Math.min(low, v), high = Math.max(high, v);
  if (low > high) return [0, 1];
  if (low === high) return [low - Math.max(1e-9, Math.abs(low) / 10), high + Math.max(1e-9, Math.abs(high) / 10)];
  return [low, high];
}

/// Draws now and whenever the width changes.
function responsive(figure, draw) {
  let width = 0;
  const redraw = () => {
    const now = Math.floor(figure.clientWidth);
    if (now > 0 && now !== width) draw((width = now));
  };
  new ResizeObserver(redraw).observe(figure);
  requestAnimationFrame(redraw);
  return { redraw: () => draw(width || 600) };
}

function frame(width, height, x, y, options) {
  const left = 50, right = 8, top = 6, bottom = 20;
  const px = (v) => left + ((v - x[0]) / (x[1] - x[0] || 1)) * (width - left - right);
  const py = (v) => height - bottom - ((v - y[0]) / (y[1] - y[0] || 1)) * (height - top - bottom);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": options.label });
  for (const v of ticks(y[0], y[1], height / 40)) {
    const at = Math.round(py(v)) + 0.5;
    root.append(svg("line", { class: v === 0 ? "zero" : "grid", x1: left, x2: width - right, y1: at, y2: at }),
      svg("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, short(v)));
  }
  let free = left - 30;
  for (const v of ticks(x[0], x[1], width / (options.xText ? 110 : 80))) {
    const label = options.xText ? options.xText(v) : short(v), half = label.length * 3.2;
    const at = Math.min(Math.max(px(v), left + half - 20), width - half);
    if (at - half < free) continue;
    root.append(svg("text", { x: at, y: height - 4, "text-anchor": "middle" }, label));
    free = at + half + 8;
  }
  return { root, px, py, left, right: width - right, top, bottom: height - bottom };
}

/// The line through finite values; a gap where there is none.
function path(xs, values, px, py) {
  let d = "", pen = false;
  values.forEach((v, i) => {
    const there = v !== null && Number.isFinite(v);
    if (there) d += `${pen ? "L" : "M"}${px(xs[i]).toFixed(1)},${py(v).toFixed(1)}`;
    pen = there;
  });
  return d;
}

function legend(series, onChange) {
  return html("div", { class: "legend", role: "group", "aria-label": "Lines shown" }, ...series.map((s) => {
    const mark = html("i", { class: s.dash ? "dashed" : "", style: `border-color:${s.colour}` });
    s.output = html("output", {});
    if (series.length === 1 && !s.always) return html("span", { class: "key" }, mark, s.name, s.output);
    const box = html("input", { type: "checkbox" });
    box.checked = !s.hidden;
    box.addEventListener("change", () => { s.hidden = !box.checked; onChange(); });
    return html("label", {}, box, mark, s.name, s.output);
  }));
}

/// options: label, xs, series [{name, values, colour, dash, hidden, fill}], height, xText, zero, verticals
function lineChart(id, options) {
  const figure = html("figure", { id, class: "chart" });
  const holder = html("div", {});
  const note = html("p", { class: "note" });
  const draw = (width) => {
    const shown = options.series.filter((s) => !s.hidden);
    const y = extent(shown.map((s) => s.values).concat(options.zero ? [[0]] : []));
    const x = extent([options.xs]);
    const f = frame(width, options.height || 240, x, y, options);
    for (const v of options.verticals || [])
      f.root.append(svg("line", { class: "grid", x1: f.px(v), x2: f.px(v), y1: f.top, y2: f.bottom }));
    let missing = 0;
    for (const s of shown) {
      const d = path(options.xs, s.values, f.px, f.py);
      if (s.fill && d) {
        const first = f.px(options.xs[0]), last = f.px(options.xs[options.xs.length - 1]), base = f.py(0);
        f.root.append(svg("path", { d: `${d}L${last},${base}L${first},${base}Z`, fill: s.colour, opacity: 0.15 }));
      }
      f.root.append(svg("path", { class: "line", d, fill: "none", stroke: s.colour, "stroke-width": s.dash ? 1.3 : 1.8,
        "stroke-linejoin": "round", "stroke-dasharray": s.dash ? "5 3" : null }));
      s.values.forEach((v, i) => {
        if (v === null || Number.isFinite(v)) return;
        ++missing;
        f.root.append(svg("line", { class: "missing", x1: f.px(options.xs[i]), x2: f.px(options.xs[i]), y1: f.bottom - 10, y2: f.bottom }));
      });
    }
    note.textContent = missing ? `${missing} points are NaN or infinite (red marks on the axis).` : "";
    note.className = missing ? "note bad" : "note";
    note.hidden = !missing;
    addCursor(f, options);
    holder.replaceChildren(f.root);
  };
  const drawn = responsive(holder, draw);
  figure.append(holder, legend(options.series, drawn.redraw), note);
  return figure;
}

/// Shows each line's value under the pointer in the legend.
function addCursor(f, options) {
  const line = svg("line", { class: "cursor", y1: f.top, y2: f.bottom, visibility: "hidden" });
  f.root.append(line);
  f.root.addEventListener("pointermove", (event) => {
    const box = f.root.getBoundingClientRect();
    const wanted = event.clientX - box.left;
    let best = 0;
    options.xs.forEach((v, i) => { if (Math.abs(f.px(v) - wanted) < Math.abs(f.px(options.xs[best]) - wanted)) best = i; });
    const at = f.px(options.xs[best]);
    fillElement(line, { x1: at, x2: at, visibility: "visible" }, []);
    for (const s of options.series) s.output.textContent = s.hidden || s.values[best] === null ? "" : exact(s.values[best]);
  });
  f.root.addEventListener("pointerleave", () => {
    line.setAttribute("visibility", "hidden");
    for (const s of options.series) s.output.textContent = "";
  });
}

/// Shares of actions, stacked; positions ascend from the largest short to the largest long.
function stackedChart(id, options) {
  const figure = html("figure", { id, class: "chart" });
  const holder = html("div", {});
  responsive(holder, (width) => {
    const f = frame(width, options.height || 240, extent([options.xs]), [0, 1], options);
    let below = options.xs.map(() => 0);
    for (const s of options.series) {
      const above = s.values.map((v, i) => below[i] + (Number.isFinite(v) ? v : 0));
      const back = [...options.xs.keys()].reverse();
      const d = path(options.xs, above, f.px, f.py) + back.map((i) => `L${f.px(options.xs[i]).toFixed(1)},${f.py(below[i]).toFixed(1)}`).join("") + "Z";
      if (options.xs.length) f.root.append(svg("path", { class: "line", d, fill: s.colour }));
      below = above;
    }
    holder.replaceChildren(f.root);
  });
  figure.append(holder, html("div", { class: "legend" }, ...options.series.map((s) =>
    html("span", { class: "key" }, html("i", { class: "block", style: `background:${s.colour}` }), s.name))));
  return figure;
}

/// Short is red, long blue, flat grey; stronger for larger positions.
function positionColour(position, largest) {
  if (position === 0) return "rgb(var(--flat))";
  const strength = 0.35 + 0.65 * Math.abs(position) / largest;
  return `rgba(var(--${position < 0 ? "short" : "long"}), ${strength.toFixed(2)})`;
}

// ---- Tables and sections

function table(caption, head, rows, classes = []) {
  return html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, html("table", {},
    html("caption", {}, caption),
    html("thead", {}, html("tr", {}, ...head.map((h) => html("th", { scope: "col", class: h === "detail" ? "text" : null }, h)))),
    html("tbody", {}, ...rows.map((row, r) => html("tr", { class: classes[r] }, ...row.map((cell, c) =>
      c === 0 ? html("th", { scope: "row" }, cell) : cell instanceof Node ? cell : html("td", {}, cell)))))));
}

function section(id, title, wide, ...content) {
  main.append(html("section", { id, class: wide ? "wide" : null, "aria-labelledby": id + "-title" },
    html("h2", { id: id + "-title" }, title), ...content));
}

// ---- What the run says

const summary = data.summary, evaluation = data.evaluation || {}, metrics = data.metrics;
const steps = metrics.step;
const profileName = summary ? summary.profile : (/^name\s*=\s*"(.*)"/m.exec(data.profile) || [])[1] || "run";

function header() {
  document.title = profileName + " – Foxhunt run";
  const head = document.getElementById("head");
  head.append(html("h1", {}, profileName));
  const facts = summary
    ? [summary.reason, summary.device, summary.data, `seed ${summary.seed}`, `parameters ${summary.fingerprint}`]
    : ["not finished"];
  if (data.environment) facts.push(`started ${String(data.environment.started).replace("T", " ").replace("Z", " UTC")}`);
  head.append(html("p", { class: "facts" }, facts.join(" · ")));
  for (const note of data.notes) head.append(html("p", { class: "note" }, note));
  if (summary) head.append(tiles());
}

function tiles() {
  const tile = (value, name, bad) => html("div", { class: "tile" }, html("b", { class: bad ? "bad" : null }, value), html("span", {}, name));
  const list = [];
  if (summary.test && summary.test.sessions > 0) {
    const test = summary.test;
    list.push(tile(money(test.net_pnl), "net on test", numberOf(test.net_pnl) < 0),
      tile(money(test.gross_pnl), "gross on test"), tile(known(test.sharpe), "Sharpe on test"),
      tile(money(test.max_drawdown), "largest drawdown on test"));
  }
  const failed = (summary.checks || []).filter((check) => !check.passed).length;
  list.push(tile(text(summary.iterations, 0), "iterations"), tile(short(summary.steps_per_second) + "/s", "steps"));
  if ((summary.checks || []).length)
    list.push(tile(failed ? `${failed} FAIL` : "PASS", `${summary.checks.length} checks`, failed > 0));
  return html("div", { class: "tiles" }, ...list);
}

/// A line that would flatten the others is off at first.
function hideOutliers(series) {
  const reach = (s) => Math.max(...s.values.filter(Number.isFinite).map(Math.abs), 0);
  const usual = Math.max(...series.filter((s) => s.always).map(reach), 1e-9);
  const hidden = series.filter((s) => !s.always && reach(s) > 4 * usual);
  for (const s of hidden) s.hidden = true;
  return hidden.length ? html("p", { class: "note" },
    `Off at first, being far out of this scale: ${hidden.map((s) => s.name).join(", ")}.`) : null;
}

function equity() {
  const policies = evaluation.policies;
  if (!policies || !policies.agent) return;
  const xs = evaluation.time.map((_, i) => i);
  const xText = (i) => (evaluation.time[Math.round(i)] === undefined ? "" : time(evaluation.time[Math.round(i)]).slice(5));
  const starts = evaluation.session_starts.length <= 60 ? evaluation.session_starts.slice(1) : [];
  const lines = (key) => Object.keys(policies).filter((name) => name !== "agent").map((name, i) => (
    { name, values: numbersOf(policies[name][key]), colour: colour(name === "flat" ? 5 : i), dash: false }));
  const agent = (key, name) => ({ name, values: numbersOf(policies.agent[key]), colour: colour(0), always: true });
  const net = [agent("net", "agent, net"), { ...agent("gross", "agent, gross"), dash: true }, ...lines("net")];
  const note = hideOutliers(net);
  section("equity", "Equity on the test split ($)", true,
    lineChart("chart-equity", { label: "Equity of the agent, net and gross, and of the baselines, in dollars", xs, series: net, xText, zero: true, height: 320, verticals: starts }), note);
  const falls = [agent("drawdown", "agent"), ...lines("drawdown")];
  for (const s of falls) s.values = s.values.map((v) => -v);
  falls[0].fill = true;
  const fallNote = hideOutliers(falls);
  section("drawdown", "Drawdown on the test split ($)", true,
    lineChart("chart-drawdown", { label: "Fall of net equity from its peak, in dollars", xs, series: falls, xText, zero: true, height: 200, verticals: starts }), fallNote);
}

function performance() {
  if (!summary || !summary.test || !summary.test.sessions) return;
  const row = (name, p) => [name, text(p.net_pnl), text(p.gross_pnl), text(p.costs), known(p.sharpe), known(p.sortino),
    text(p.max_drawdown), text(p.trades, 0), known(p.hit_rate, 0, 100, "%"), known(p.mean_holding_minutes, 1),
    known(p.time_in_market, 0, 100, "%"), text(p.sessions, 0)];
  const rows = [row("agent, test", summary.test), row("agent, validation", summary.validation),
    ...Object.entries(summary.baselines || {}).map(([name, p]) => row(name, p))];
  section("performance", "Held-out performance", true, table("The agent and the baselines (on test); Sharpe and Sortino annualised",
    ["policy", "net $", "gross $", "costs $", "Sharpe", "Sortino", "drawdown $", "trades", "hit", "hold min", "in market", "sessions"],
    rows, ["agent", "agent"]));
  if (!evaluation.sessions) return;
  const sessions = table("The agent, session by session (UTC)", ["begin", "end", "steps", "net $", "gross $", "trades"],
    evaluation.sessions.map((s) => [time(s.begin), time(s.end), text(s.steps, 0), text(s.net), text(s.gross), text(s.trades, 0)]));
  sessions.classList.add("tall");
  section("sessions", "Sessions of the test split", true, html("details", evaluation.sessions.length <= 12 ? { open: "" } : {},
    html("summary", {}, `${evaluation.sessions.length} sessions`), sessions));
}

function gate() {
  const verdict = data.gate;
  if (!verdict) return;
  const rows = verdict.horizons.map((h) => [h.horizon, text(h.labels, 0), text(h.base_rate, 3), text(h.auc, 3),
    `${text(h.auc_low, 3)} to ${text(h.auc_high, 3)}`, `${text(h.model.brier, 4)} / ${text(h.base.brier, 4)}`,
    `${text(h.model.log_loss, 4)} / ${text(h.base.log_loss, 4)}`, text(h.model.calibration_error, 3),
    html("td", { class: h.passed ? "good" : "bad" }, h.passed ? "pass" : "fail")]);
  section("gate", `Gate: ${verdict.verdict}`, true, table(verdict.rule, ["horizon", "labels", "base rate", "AUC", "bounds",
    "Brier / of base", "log loss / of base", "calibration error", "verdict"], rows));
}

function training() {
  const chart = (id, title, names) => {
    const series = names.filter((name) => metrics.columns[name]).map((name, i) => (
      { name: name.replaceAll("_", " "), values: numbersOf(metrics.columns[name]), colour: colour(i) }));
    if (series.length && steps.length)
      section(id, title, false, lineChart("chart-" + id, { label: title + " over the iterations", xs: steps, series, height: 220 }));
  };
  chart("rewards", "Reward a step", ["reward_mean"]);
  chart("losses", "Losses", ["loss", "c51_loss", "mse_loss", "cql_loss"]);
  chart("values", "Q-values of the batch", ["q_mean", "q_max"]);
  chart("gradients", "Gradient norm and TD error", ["gradient_norm", "td_error_mean"]);
  chart("schedules", "Exploration", ["epsilon", "beta", "action_entropy"]);
  const shares = Object.keys(metrics.columns).filter((name) => name.startsWith("action_share_"))
    .map((name) => [Number(name.slice("action_share_".length)), name]).sort((a, b) => a[0] - b[0]);
  const largest = Math.max(...shares.map(([position]) => Math.abs(position)), 1e-9);
  if (shares.length && steps.length)
    section("actions", "Action mix while training (contracts)", false, stackedChart("chart-actions", { height: 220,
      label: "Share of each target position over the iterations", xs: steps,
      series: shares.map(([position, name]) => ({ name: signed(position), values: numbersOf(metrics.columns[name]), colour: positionColour(position, largest) })) }));
}

function distributions() {
  const values = evaluation.values;
  if (!values || !values.states.length) return;
  const largest = Math.max(...values.positions.map(Math.abs), 1e-9);
  const list = values.states.map((state, i) => html("div", {}, html("h3", {}, time(state.time) + " UTC"),
    lineChart(`chart-state-${i}`, { label: `Distribution of the return of each action at ${time(state.time)}`, height: 170, xs: values.support, zero: true,
      series: values.positions.map((position, a) => ({ name: `${signed(position)}: ${exact(numberOf(state.q[a]))}`, values: numbersOf(state.distribution[a]),
        colour: positionColour(position, largest), always: true })) })));
  section("states", "Q-value distribution at the start of test sessions", true, html("div", { class: "states" }, ...list),
    html("p", { class: "note" }, "Probability of each return, in reward units, by target position in contracts; beside each position its mean, the Q-value."));
}

function split() {
  const splits = evaluation.splits;
  if (!splits) return;
  const names = ["train", "validation", "test"].filter((name) => splits[name]);
  const bar = html("div", { class: "bar", role: "img", "aria-label": names.map((n) => `${n} ${splits[n].rows} rows`).join(", ") });
  let row = 0;
  names.forEach((name, i) => {
    const s = splits[name];
    if (s.first_row > row) bar.append(html("div", { style: `flex:${s.first_row - row} 0 0` }));
    bar.append(html("div", { style: `flex:${s.rows} 0 0;background:${["#1f5fd0", "#b85c00", "#0b7575"][i]}`, title: name }, name));
    row = s.first_row + s.rows;
  });
  if (splits.rows > row) bar.append(html("div", { style: `flex:${splits.rows - row} 0 0` }));
  section("split", "Data split", false, bar, table("Chronological; what is bare between two is left out", ["split", "from", "to", "rows", "sessions"],
    names.map((n) => [n, day(splits[n].begin), day(splits[n].end), text(splits[n].rows, 0), text(splits[n].sessions, 0)])));
}

function timing() {
  if (!summary || !summary.phases) return;
  const total = summary.total_seconds, rows = Object.entries(summary.phases).map(([name, p]) => [name, p.count, p.seconds]);
  rows.push(["(other)", null, Math.max(0, total - rows.reduce((sum, row) => sum + row[2], 0))]);
  section("timing", "Timing", false, table(`${text(total, 1)} s in all`, ["phase", "count", "seconds", "share", ""],
    rows.map(([name, count, seconds]) => [name, count === null ? "" : text(count, 0), text(seconds, 3), text((100 * seconds) / total, 1) + "%",
      html("td", { class: "text", style: "width:22%" }, html("span", { class: "meter", style: `width:${((100 * seconds) / total).toFixed(1)}%` }))])));
}

function checks() {
  if (!summary || !(summary.checks || []).length) return;
  section("checks", "Checks", true, table("What the run was judged by", ["check", "result", "detail"], summary.checks.map((c) => [c.name,
    html("td", { class: c.passed ? "good" : "bad" }, c.passed ? "PASS" : "FAIL"), html("td", { class: "text" }, c.detail)])));
}

function sources() {
  const fold = (id, title, content) => main.append(html("section", { id, class: "wide" }, html("details", {}, html("summary", {}, title), html("pre", { tabindex: "0" }, content))));
  fold("profile", "Resolved profile", data.profile);
  fold("command", "Command", data.command);
  if (data.environment) fold("environment", "Environment", JSON.stringify(data.environment, null, 2));
}

for (const draw of [header, equity, performance, gate, training, distributions, split, timing, checks, sources]) draw();
document.documentElement.dataset.drawn = "true";
