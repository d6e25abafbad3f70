"use strict";
// The page of `promoarray explore`. What it shows is in #data, as diagnostics/explore/page.py wrote
// it: texts, answers and rows of matrices, each once and named by its number.

const REFUSED = -1, AS_FIRST = -2, NOT_ASKED = -1, ASTYPE = "astype";
const $ = (id) => document.getElementById(id);
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const prose = (text) => escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");
let data;  // see Page.to_dict
const state = { policy: 0, op: 0, other: -1, rank: "", narrow: "", cell: null };

// -- asking ----------------------------------------------------------------------------------

const dtypeName = (number) => data.dtypes[number][0];
const policy = () => data.policies[state.policy];
const other = () => (state.other < 0 ? null : data.policies[state.other]);
const question = () => data.questions[state.op];

function entryOf(policy, label) {
  policy.index ??= new Map(policy.entries.map((entry, number) => [entry[0], number]));
  return policy.index.get(label);
}

function label(text) {  // an operand as the page knows it
  const [name, dtype, rank, called] = text;
  return { name, dtype, rank, called };
}

// What a policy answers for operands by their labels; null where Python computes.
function ask(policy, op, labels) {
  if (data.questions[op][0] === ASTYPE) return askCast(policy, labels);
  const numbers = labels.map((each) => entryOf(policy, each));
  const missing = labels[numbers.indexOf(undefined)];
  if (missing !== undefined) return { missing, result: null, left_out: holds(policy, missing) };
  const [entering, answering] = policy.tables[op];
  const [row, column] = numbers.length > 1 ? numbers : [0, numbers[0]];
  const answer = policy.rows[answering[row]][column];
  if (answer === NOT_ASKED) return null;
  const made = policy.answering[answer];
  const operands = numbers.map((number) => label(policy.entries[number]));
  const dtype = (n) => (n <= AS_FIRST ? operands[AS_FIRST - n].dtype : n);
  return {
    operands, dtype, made,
    result: made[0] === REFUSED ? null : dtype(made[0]),
    weak: made[1], entering: policy.entering[policy.rows[entering[row]][column]],
  };
}

// Whether a policy has a dtype, though the page may not ask it about that.
function holds(policy, label) {
  const name = label.replace("[]", "");
  return policy.casts.dtypes.includes(data.dtypes.findIndex((each) => each[0] === name));
}

function askCast(policy, labels) {
  const numbers = labels.map((name) => data.dtypes.findIndex((dtype) => dtype[0] === name));
  const [row, column] = numbers.map((number) => policy.casts.dtypes.indexOf(number));
  if (row < 0 || column < 0) return { missing: labels[row < 0 ? 0 : 1], result: null };
  const made = data.castAnswers[policy.casts.table[row][column]];
  const operands = numbers.map((n) => ({ name: dtypeName(n), dtype: n }));
  return { operands, made, cast: true, result: made[0] === REFUSED ? null : made[0], weak: 0,
    source: made[6], values: made[7] };
}

// A text with its marks filled in; ¤1 and ¤2 are the operands' dtypes, ¤3 and ¤4 their codes.
function filled(number, policy, operands) {
  const [name] = question().slice(1), lines = name === ASTYPE ? data.lines : policy.lines;
  return lines[number].replace(/¤(.)/g, (_, mark) => {
    if (mark === "n") return name;
    if (mark === "t") return policy.title;
    if (mark === "p") return policy.name;
    if (mark === "r") return policy.principle;
    if (mark === "f") return policy.refusal;
    return data.dtypes[operands[(mark - 1) % 2].dtype][mark < 3 ? 0 : 1];
  });
}

function expression(op, labels) {
  const [, name, symbol] = data.questions[op];
  return symbol && labels.length === 2 ? labels.join(` ${symbol} `) : `${name}(${labels.join(", ")})`;
}

const what = (answer) => answer.left_out ? "not on this page"
  : answer.result === null ? "refused" : dtypeName(answer.result) + (answer.weak ? " (weak)" : "");

// The sections of an explanation, as `promoarray explain` prints them: [heading, lines].
function sections(policy, op, labels, answer) {
  const text = (number) => filled(number, policy, answer.operands);
  if (answer.cast) return castSections(policy, answer, text);
  const [, , steps, casts, asFunction, asOperator, signature, , , notes] = answer.made;
  const castLine = ([index, target, line]) => {
    if (line !== undefined) return text(line);
    const { dtype, called } = answer.operands[index], to = answer.dtype(target);
    const lost = data.lines[data.losses[dtype][to]] || "every value comes through";
    return `x${index + 1}: ${called} to ${dtypeName(to)}: ${lost}`;
  };
  const refused = answer.result === null;
  return [
    ["legend", labels.some((each) => each.includes("[]")) ? [data.legend] : []],
    ["rule", [...answer.entering, ...steps].map(text)],
    ["casts", casts.length ? casts.map(castLine) : refused ? [] : ["none"]],
    ["function", [text(asFunction)]], ["operator", [text(asOperator)]],
    ["signature", [text(signature)]],
    ["source", policy.sources], ["notes", notes.map((number) => policy.notes[number])],
  ].map(([heading, lines]) => [heading, lines.filter(Boolean)]).filter(([, lines]) => lines.length);
}

function castSections(policy, answer, text) {
  const [target, steps, quirks, , , notes, source] = answer.made;
  const lost = target === REFUSED ? "" : data.lines[data.losses[source][target]];
  const cast = `x: ${dtypeName(source)} to ${target === REFUSED ? "" : dtypeName(target)}: `;
  return [
    ["rule", steps.map(text)],
    ["casts", target === REFUSED ? [] : [cast + (lost || "every value comes through")]],
    ["quirks", quirks.map(text)],
    ["source", policy.castSources], ["notes", notes.map((number) => policy.castNotes[number])],
  ].filter(([, lines]) => lines.length);
}

// What two policies say of the same operands, in one word.
function difference(one, two) {
  if (one === null || two === null) return "python";
  const a = one.result, b = two.result;
  if (a === null && b === null) return "both-refused";
  if (a === null || b === null) return "one-refuses";
  if (a !== b) return "other";
  return one.cast && (one.source !== two.source || one.values !== two.values) ? "other-bits" : "same";
}

// -- the matrix --------------------------------------------------------------------------------

const RANKS = { aa: "arrays", za: "left operand 0-d", az: "right operand 0-d", zz: "both 0-d" };
const WIDTH = { 2: 0, 4: 0, 6: 1, 8: 1, 16: 2, 32: 3, 64: 4 };

function style(number) {
  const [, , kind, bits] = data.dtypes[number];
  const width = kind === "b" ? 1 : WIDTH[kind === "c" ? bits / 2 : bits] ?? 2;
  return `class="cell kind-${kind}" style="--w:${width}"`;
}

// The labels of rows and columns: arrays or 0-d arrays, then Python scalars.
function labels(side) {
  const zeroD = (state.rank || "aa")[side] === "z", found = new Map();
  if (question()[0] === ASTYPE) {
    for (const each of [policy(), other()]) {
      for (const number of each ? each.casts.dtypes : []) found.set(dtypeName(number), number);
    }
    return ordered(found);
  }
  const scalars = [];
  for (const each of [policy(), other()]) {
    for (const [name, dtype, rank] of each ? each.entries : []) {
      if (rank === "scalar") scalars.push(name);
      else if (rank === (zeroD ? "0-d" : "array")) found.set(name, dtype);
    }
  }
  return [...ordered(found), ...new Set(scalars)];
}

const isNarrow = (number) => data.narrow[number];  // shown on demand

const ordered = (found) => [...found]
  .filter(([, number]) => state.narrow || !isNarrow(number)).sort((a, b) => data.order[a[1]] - data.order[b[1]]).map(([n]) => n);

// A policy that makes no difference between 0-d arrays and others is asked about arrays.
function asked(policy, op, names) {
  const plain = policy.ranks ? names : names.map((name) => name.replace("[]", ""));
  return ask(policy, op, plain);
}

const short = (number) => data.dtypes[number][1].replace(/^f\d_(e\dm\d)/, "$1");
const broken = (text) => text.replace(/^(e\dm\d)(.{2,})$/, "$1<br>$2");
const shown = (answer) => (answer.result === null ? "×" : short(answer.result) + (answer.weak ? "*" : ""));

function cell(names) {
  const one = asked(policy(), state.op, names);
  if (one === null) return ["python", 'class="python"', "", "Python computes it"];
  const said = `${policy().name}: ${what(one)}`;
  if (!other()) {
    const tip = `${expression(state.op, names)} is ${what(one)}`;
    if (one.result === null) return ["refused", 'class="refused"', "×", tip];
    const lossy = one.cast && data.lines[data.losses[one.source][one.result]] ? " lossy" : "";
    const long = shown(one).length > 4 ? " long" : "";
    return ["answered", style(one.result).replace("cell", `cell${lossy}${long}`), broken(shown(one)), tip];
  }
  const two = asked(other(), state.op, names), kind = difference(one, two);
  const both = `${expression(state.op, names)}, ${said}; ${other().name}: ${what(two)}`;
  const tip = both + (kind === "other-bits" ? "; special values differ" : "");
  const text = { same: shown(one), "both-refused": "×", "other-bits": `≠${shown(one)}` }[kind]
    ?? `${shown(one)}<br>${shown(two)}`;
  const long = [one, two].some((each) => shown(each).length > 4) ? " long" : "";
  return [kind, `class="${kind === "other-bits" ? "other other-bits" : kind}${long}"`, text, tip];
}

const KINDS = {
  answered: "answered", refused: "refused",
  same: "same dtype", other: "different dtype", "other-bits": "same dtype, other bits",
  "one-refuses": "one refuses", "both-refused": "both refuse",
};
const countedAs = (kind) => (kind === "same" && question()[0] === ASTYPE ? "same bits" : KINDS[kind]);

function drawMatrix() {
  const unary = question()[3] === 1, rows = unary ? [null] : labels(0), columns = labels(1);
  const counts = {}, cast = question()[0] === ASTYPE;
  const zero = rows.indexOf("True"), apart = (names, i) => names[i] === "True" ? ' class="apart"' : "";
  const head = columns.map((name) => `<th role="columnheader" scope="col"><span>${escaped(name)}</span></th>`);
  const body = rows.map((left, i) => {
    const cells = columns.map((right, j) => {
      const names = unary ? [right] : [left, right];
      const [kind, attributes, text, tip] = cell(names);
      counts[kind] = (counts[kind] ?? 0) + 1;
      const chosen = state.cell && names.join() === state.cell.join();
      const line = names[names.length - 1] === "True" ? attributes.replace('class="', 'class="apart ') : attributes;
      return `<td role="gridcell" tabindex="-1" aria-selected="${chosen}" data-cell="${escaped(names.join())}"`
        + ` title="${escaped(tip)}" aria-label="${escaped(tip)}" ${line}>${text}</td>`;
    });
    const name = unary ? question()[1] : left;
    return `<tr role="row"${apart(rows, i)}><th role="rowheader" scope="row">${escaped(name)}</th>${cells.join("")}</tr>`;
  });
  const corner = unary ? "x" : cast ? "from \\ to" : "x1 \\ x2";
  const name = `${policy().name}, ${expression(state.op, unary ? ["x"] : cast ? ["x", "dtype"] : ["x1", "x2"])}`;
  $("picture-title").textContent = other() ? `${name}: compared with ${other().name}` : name;
  $("matrix").innerHTML = `<table role="grid" class="${other() ? "wide" : ""}" aria-label="${escaped(name)}">`
    + `<thead><tr role="row"><th>${corner}</th>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table>`;
  const first = $("matrix").querySelector('[aria-selected="true"]') ?? $("matrix").querySelector("td");
  if (first) first.tabIndex = 0;
  $("counts").innerHTML = Object.keys(KINDS).filter((kind) => counts[kind]).map((kind) =>
    `<span data-kind="${kind}"><b>${counts[kind]}</b> ${countedAs(kind)}</span>`).join(" · ");
  drawLegend(columns);
}

function drawLegend(columns) {
  const key = (swatch, text) => `<span class="key">${swatch}${escaped(text)}</span>`;
  const swatch = (kind, text) => `<span class="swatch ${kind}">${text}</span>`;
  if (other()) {
    $("legend").innerHTML = key(swatch("same", "f32"), "same dtype")
      + key(swatch("other", "f32<br>f64"), `different dtype: ${policy().name} above, ${other().name} below`)
      + key(swatch("one-refuses", "×<br>f64"), "one refuses")
      + key(swatch("refused-key", "×"), "both refuse")
      + (question()[0] === ASTYPE ? key(swatch("other", "≠f16"), "same dtype, but NaN, Inf, overflow or other special values come out as other bits") : "");
    return;
  }
  const kinds = { b: "bool", u: "unsigned", i: "signed", f: "float", c: "complex", T: "string" };
  const has = new Set(columns.map((name) => data.dtypes.find((d) => d[0] === name.replace("[]", ""))?.[2]));
  const steps = (kind) => [0, 1, 2, 3, 4].map((w) => `<span class="swatch cell kind-${kind}" style="--w:${w};min-width:.7em">&nbsp;</span>`).join("");
  $("legend").innerHTML = Object.entries(kinds).filter(([kind]) => has.has(kind)).map(([kind, text]) =>
    key(`<span class="steps">${"bT".includes(kind) ? swatch(`cell kind-${kind}`, "&nbsp;") : steps(kind)}</span>`, text)).join("")
    + key("", "shades: narrow to wide") + key(swatch("refused-key", "×"), "refused")
    + (policy().weak ? key("", "* weak: counts for no more than a Python scalar") : "")
    + (question()[0] === ASTYPE ? key('<span class="swatch" style="text-decoration:underline dotted">i8</span>', "some values are lost") : "");
}

// -- the explanation -----------------------------------------------------------------------------

function explainCell() {
  for (const td of $("matrix").querySelectorAll('[aria-selected="true"]')) td.setAttribute("aria-selected", false);
  if (!state.cell) return;
  const td = $("matrix").querySelector(`[data-cell="${CSS.escape(state.cell.join())}"]`);
  const one = asked(policy(), state.op, state.cell);
  if (one === null) return;
  td?.setAttribute("aria-selected", true);
  let body = told(policy(), one), two = other() && asked(other(), state.op, state.cell);
  $("explained").textContent = headline(policy(), one);
  if (two) body += `<h2>${escaped(headline(other(), two))}</h2>${told(other(), two)}`;
  $("told").innerHTML = body + (one.missing || !one.cast ? "" : castValues(one)) + (one.missing && !data.every ? "" : everyPolicy());
  markOrder(one);
}

const ALL = (what) => `This page has no ${what}. To make one of all operations and dtypes: promoarray explore --all`;
const headline = (policy, answer) => `${expression(state.op, state.cell)} is ${what(answer)} under ${policy.name}`;

function told(policy, answer) {
  if (answer.missing) {
    const name = answer.missing.replace("[]", "");
    return `<p class="reason">${escaped(answer.left_out ? ALL(`${answer.missing} beside other dtypes`) : `${policy.title} has no ${name}`)}</p>`;
  }
  const names = policy.ranks ? state.cell : state.cell.map((name) => name.replace("[]", ""));
  const [reason, write] = answer.cast
    ? [answer.made[3], 0] : [answer.made[7], answer.made[8]];
  const text = (number) => prose(filled(number, policy, answer.operands));
  const list = sections(policy, state.op, names, answer).map(([heading, lines]) =>
    `<dt>${heading}</dt><dd data-heading="${heading}">${lines.map((line) => `<p>${prose(line)}</p>`).join("")}</dd>`);
  return (answer.result === null ? `<p class="reason">${text(reason)}</p>` : "")
    + (write ? `<p class="write">${text(write)}</p>` : "") + `<dl>${list.join("")}</dl>`;
}

// What every policy of the page answers, those that agree in one row.
function everyPolicy() {
  const groups = new Map();
  data.policies.forEach((each, number) => {
    const answer = asked(each, state.op, state.cell);
    if (answer === null) return;
    const key = what(answer);
    groups.set(key, [...(groups.get(key) ?? []), number]);
  });
  const rows = [...groups].map(([said, numbers]) => {
    const names = numbers.map((n) => `<button type="button" data-policy="${n}">${escaped(data.policies[n].name)}</button>`);
    return `<tr><td>${escaped(said)}</td><td>${names.join(", ")}</td></tr>`;
  });
  return `<h2>Every policy</h2><div class="scroll"><table><tr><th>result</th><th>policies</th></tr>${rows.join("")}</table></div>`;
}

// What every policy makes of the special values of a cast, those that agree in one column.
function castValues(one) {
  const groups = new Map();
  data.policies.forEach((each) => {
    const answer = askCast(each, state.cell);
    if (!answer.missing && answer.result !== null && answer.source === one.source) {
      groups.set(answer.values, [...(groups.get(answer.values) ?? []), each.name]);
    }
  });
  const target = data.dtypes.findIndex((dtype) => dtype[0] === state.cell[1]);
  const given = data.values[data.given[one.source][one.result ?? target]];
  if (!given.length || !groups.size) return "";
  const seen = (number) => `${escaped(data.cells[number][1])}<small>${data.cells[number][0]}</small>`;
  const own = one.result === null ? null : data.values[one.values];
  const head = [...groups.values()].map((names) => `<th>${names.map(escaped).join("<br>")}</th>`).join("");
  const rows = given.map((value, i) => `<tr><td>${seen(value)}</td>` + [...groups.keys()].map((number) => {
    const made = data.values[number][i], differs = own && made !== own[i] ? ' class="differs"' : "";
    return `<td${differs}>${seen(made)}</td>`;
  }).join("") + "</tr>");
  return `<h2>Special values</h2><div class="scroll"><table id="values"><tr><th>${escaped(dtypeName(one.source))}</th>${head}</tr>${rows.join("")}</table></div>`;
}

// -- the order of the rule -------------------------------------------------------------------------

function drawOrder() {
  const { nodes, lines, alone, says, half } = policy().order, boxes = [], paths = [];
  $("order").hidden = !nodes.length;
  if (!nodes.length) return;
  $("order-title").textContent = `The order of ${policy().name}: what promotes to what`;
  $("order-says").textContent = `Two dtypes promote to the lowest one that lines lead up to from both. ${says}`;
  const pad = half + 8, right = Math.max(...nodes.map((n) => n[3])) + 2 * pad;
  const low = Math.max(...nodes.map((n) => n[4])) + 2 * 20;
  for (const [a, b, ...between] of lines) {
    const points = [[nodes[a][3], nodes[a][4] - 11]];
    for (let i = 0; i < between.length; i += 2) points.push([between[i], between[i + 1]]);
    points.push([nodes[b][3], nodes[b][4] + 11]);
    paths.push(`<path data-line="${a},${b}" d="${curve(points.map(([x, y]) => [x + pad, y + 20]))}"/>`);
  }
  nodes.forEach(([name, code, words, x, y], number) => {
    const weak = code.endsWith("*"), index = data.dtypes.findIndex((dtype) => dtype[0] === name);
    const attributes = weak ? 'class="weak"' : style(index);
    boxes.push(`<g data-node="${number}" ${attributes}><title>${escaped(words)}</title>`
      + `<rect x="${x + pad - half}" y="${y + 20 - 11}" width="${2 * half}" height="22" rx="4"/>`
      + `<text x="${x + pad}" y="${y + 20}" font-size="11">${escaped(code)}</text></g>`);
  });
  $("drawing").innerHTML = `<svg role="img" aria-labelledby="order-title" width="${right}" height="${low}"`
    + ` viewBox="0 0 ${right} ${low}">${paths.join("")}${boxes.join("")}</svg>`;
  $("alone").textContent = alone.length ? `Below and above nothing: ${alone.join(", ")}.` : "";
}

function curve(points) {  // upright where it leaves and arrives
  let path = `M${points[0]}`;
  for (let i = 1; i < points.length; i++) {
    const [x, y] = points[i - 1], [u, v] = points[i], middle = (y + v) / 2;
    path += `C${x},${middle} ${u},${middle} ${u},${v}`;
  }
  return path;
}

function markOrder(answer) {
  for (const on of $("drawing").querySelectorAll(".on")) on.classList.remove("on");
  if (!answer || answer.missing || answer.cast) return;
  const { nodes, lines } = policy().order, kinds = { True: "b*", 1: "i*", "-1": "i*", 300: "i*", 2.5: "f*", "1e+40": "f*", "1j": "c*" };
  const code = ({ name, dtype }) => (dtype < 0 ? kinds[name] : data.dtypes[dtype][1]);
  const node = (code) => nodes.findIndex((each) => each[1] === code);
  const reach = (from, up) => {
    const seen = new Set([from]), queue = [from];
    while (queue.length) {
      const at = queue.pop();
      for (const [a, b] of lines) {
        const next = up ? b : a;
        if ((up ? a : b) === at && !seen.has(next)) { seen.add(next); queue.push(next); }
      }
    }
    return seen;
  };
  const starts = answer.operands.map(code).map(node).filter((n) => n >= 0);
  const result = answer.result === null ? ["", "", ""] : data.dtypes[answer.result];
  const end = node(answer.weak ? `${result[2]}*` : result[1]);
  const below = end < 0 ? new Set() : reach(end, false), on = new Set(starts);
  for (const start of starts) for (const n of reach(start, true)) if (below.has(n)) on.add(n);
  for (const number of on) $("drawing").querySelector(`[data-node="${number}"]`).classList.add("on");
  for (const [a, b] of lines) {
    if (on.has(a) && on.has(b)) $("drawing").querySelector(`[data-line="${a},${b}"]`).classList.add("on");
  }
}

// -- where to look first --------------------------------------------------------------------------

const EVERYDAY = ["int64", "float32", "int32", "float16", "2.5", "1"];

// Of each operation the everyday operands on which most policies part, those that part most first.
function partings() {
  const found = new Map();
  data.questions.forEach(([name, , , arity], op) => {
    if (name === ASTYPE) return;
    const pairs = arity === 1 ? EVERYDAY.map((x) => [x]) : EVERYDAY.flatMap((x) => EVERYDAY.map((y) => [x, y]));
    for (const names of pairs) {
      const answers = data.policies.map((each) => ask(each, op, names));
      if (answers.includes(null) || answers.some((each) => each.missing)) continue;
      const said = answers.map(what), kinds = new Set(said).size, key = said.join();
      const before = found.get(op);
      if (kinds > 1 && kinds > (before?.kinds ?? 0)) found.set(op, { op, names, said, kinds, key });
    }
  });
  const most = [...found.values()].sort((a, b) => b.kinds - a.kinds);
  return [...new Map(most.reverse().map((each) => [each.key, each])).values()].reverse().slice(0, 8);
}

function drawFirst() {
  const rows = data.policies.length > 1 ? partings() : [];
  $("first").hidden = !rows.length;
  const head = data.policies.map((each) => `<th scope="col">${escaped(each.name)}</th>`);
  const body = rows.map(({ op, names, said }, row) => {
    const often = (text) => said.filter((each) => each === text).length, usual = Math.max(...said.map(often));
    const cells = said.map((text) => `<td${often(text) < usual ? ' class="differs"' : ""}>${escaped(text)}</td>`);
    return `<tr><th scope="row"><button type="button" data-first="${row}">${escaped(expression(op, names))}</button></th>${cells.join("")}</tr>`;
  });
  $("partings").innerHTML = `<table><tr><th></th>${head.join("")}</tr>${body.join("")}</table>`;
  $("partings").addEventListener("click", (event) => {
    const chosen = rows[event.target.dataset.first];
    if (!chosen) return;
    Object.assign(state, { op: chosen.op, cell: chosen.names, rank: "" });
    drawAll();
    $("picture").scrollIntoView();
  });
}

// -- the rest ------------------------------------------------------------------------------------

function drawAbout() {
  const list = (title, lines) => lines.length
    ? `<h3>${title}</h3><ul>${lines.map((line) => `<li>${prose(line)}</li>`).join("")}</ul>` : "";
  $("about-title").textContent = `${policy().name}: ${policy().title}`;
  $("about-text").innerHTML = `<p>${prose(policy().principle)}</p>`
    + list("Sources", policy().sources) + list("Notes", policy().notes)
    + list("Sources of the casts", policy().castSources) + list("Notes on the casts", policy().castNotes);
}

function drawAll() {
  const ranks = [policy(), other()].some((each) => each?.ranks) && question()[0] !== ASTYPE && question()[3] > 1;
  if (!ranks) state.rank = "";
  $("rank-label").hidden = !ranks;
  $("narrow-label").hidden = !data.every && question()[0] !== ASTYPE;
  $("policy").value = state.policy; $("op").value = state.op; $("with").value = state.other;
  $("rank").value = state.rank || "aa"; $("narrow").value = state.narrow;
  drawMatrix(); drawOrder(); drawAbout(); explainCell(); writeLink();
}

function writeLink() {
  const [op, name, symbol] = question(), parts = [`policy=${policy().name}`, `op=${symbol && op === symbol ? name : op}`];
  if (state.cell) parts.push(`cell=${encodeURIComponent(state.cell.join()).replaceAll("%2C", ",").replaceAll("%5B%5D", "[]")}`);
  if (state.narrow) parts.push("dtypes=all");
  if (other()) parts.push(`with=${other().name}`);
  history.replaceState(null, "", `#${parts.join("&")}`);
}

function readLink() {
  const given = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B")), problems = [];
  const found = (name) => {
    const number = data.policies.findIndex((each) => each.name === (data.aliases[name] ?? name));
    if (number < 0) problems.push(`This page has no policy ${name}. To make one that has: promoarray explore --policies ${name}`);
    return number;
  };
  if (given.has("policy")) state.policy = Math.max(found(given.get("policy")), 0);
  state.other = given.has("with") ? found(given.get("with")) : -1;
  if (given.has("op")) {
    const op = given.get("op"), number = data.questions.findIndex((each) => each.slice(0, 3).includes(op));
    if (number >= 0) state.op = number;
    else {
      problems.push(data.every ? `There is no operation ${op}` : ALL(`operation ${op}`));
      given.delete("cell");
    }
  }
  state.cell = given.has("cell") ? given.get("cell").split(",").map((each) => each.trim()) : null;
  if (state.cell && state.cell.length !== Math.min(question()[3], 2)) state.cell = null;
  if (given.has("dtypes")) state.narrow = given.get("dtypes") === "all" ? "1" : "";
  const numbers = (state.cell ?? []).map((name) => data.dtypes.findIndex((d) => d[0] === name.replace("[]", "")));
  if (numbers.some((n) => n >= 0 && isNarrow(n))) state.narrow = "1";
  if (state.cell) state.rank = state.cell.map((name) => (name.endsWith("[]") ? "z" : "a")).join("");
  $("problem").textContent = problems.join(". ");
  $("problem").hidden = !problems.length;
}

function choose(names, focus) {
  state.cell = names;
  explainCell();
  writeLink();
  const td = $("matrix").querySelector('[aria-selected="true"]');
  if (td) move(td, focus);
  if (innerWidth < 1100 && !focus) $("explanation").scrollIntoView({ block: "nearest" });
}

function move(td, focus = true) {
  for (const each of $("matrix").querySelectorAll('td[tabindex="0"]')) each.tabIndex = -1;
  td.tabIndex = 0;
  if (focus) td.focus();
}

function onKey(event) {
  const td = event.target.closest?.("#matrix td");
  if (event.key === "/" && !/^(input|textarea)$/i.test(event.target.tagName)) {
    event.preventDefault();
    $("policy").focus();
    return;
  }
  if (!td) return;
  const row = td.parentElement, cells = [...row.querySelectorAll("td")], at = cells.indexOf(td);
  const up = row.previousElementSibling, down = row.nextElementSibling;
  const to = {
    ArrowLeft: cells[at - 1], ArrowRight: cells[at + 1], Home: cells[0], End: cells.at(-1),
    ArrowUp: up?.querySelectorAll("td")[at], ArrowDown: down?.querySelectorAll("td")[at],
  };
  if (event.key in to) {
    event.preventDefault();
    if (to[event.key]) move(to[event.key]);
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    choose(td.dataset.cell.split(","), true);
  }
}

function fillControls() {
  const option = (value, text) => `<option value="${value}">${escaped(text)}</option>`;
  const policies = data.policies.map((each, number) => option(number, each.name)).join("");
  $("policy").innerHTML = policies;
  $("with").innerHTML = option(-1, "nothing") + policies;
  const groups = { "operators": [], "functions": [], "functions of one operand": [], "casts": [] };
  data.questions.forEach(([op, name, symbol, arity], number) => {
    const group = op === ASTYPE ? "casts" : symbol && op === symbol ? "operators" : arity === 1 ? "functions of one operand" : "functions";
    groups[group].push(option(number, group === "operators" ? `x1 ${symbol} x2   ${name}` : op));
  });
  $("op").innerHTML = Object.entries(groups).map(([name, options]) => `<optgroup label="${name}">${options.join("")}</optgroup>`).join("");
  $("rank").innerHTML = Object.entries(RANKS).map(([value, text]) => option(value, text)).join("");
  $("made").textContent = `Made by promoarray ${data.version}: promoarray explore --policies ${data.policies.map((each) => each.name).join(",")}`;
}

function listen() {
  $("policy").addEventListener("change", (event) => { state.policy = +event.target.value; drawAll(); });
  $("with").addEventListener("change", (event) => { state.other = +event.target.value; drawAll(); });
  $("op").addEventListener("change", (event) => {
    const before = question();
    state.op = +event.target.value;
    if (before[3] !== question()[3] || ASTYPE === question()[0]) state.cell = null;
    drawAll();
  });
  $("narrow").addEventListener("change", (event) => { state.narrow = event.target.value; drawAll(); });
  $("rank").addEventListener("change", (event) => {
    state.rank = event.target.value;
    const names = state.cell?.map((name, i) => name.replace("[]", "") + (state.rank[i] === "z" && isNaN(parseFloat(name)) && name !== "True" ? "[]" : ""));
    state.cell = names ?? null;
    drawAll();
  });
  $("matrix").addEventListener("click", (event) => {
    const td = event.target.closest("td");
    if (td && !td.classList.contains("python")) choose(td.dataset.cell.split(","), false);
  });
  $("told").addEventListener("click", (event) => {
    const to = event.target.dataset.policy;
    if (to !== undefined) { state.policy = +to; drawAll(); }
  });
  addEventListener("keydown", onKey);
  addEventListener("hashchange", () => { readLink(); drawAll(); });
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

(async () => {
  data = await unpacked($("data").textContent.trim());
  fillControls(); listen(); readLink(); drawFirst(); drawAll();
  document.body.dataset.ready = "yes";
})();
