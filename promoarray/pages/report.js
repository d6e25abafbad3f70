"use strict";
// The page of a report: what is shown, chosen by policy and kind. It is all there without a script.
const $ = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const findings = all(".finding"), select = $("policy");

function above(finding) {  // the line of source that it stands below
  let line = finding;
  while (!line.classList.contains("line")) line = line.previousElementSibling;
  return line;
}

function show() {
  const policy = select?.value ?? "";
  const kinds = new Set(all('[name="kind"]:checked').map((box) => box.value));
  const inherited = $("inherited")?.checked ?? false;
  document.body.classList.toggle("with-inherited", inherited);
  let shown = 0;
  for (const finding of findings) {
    let differs = false;
    for (const said of all(".said", finding)) {
      const { kind, policies } = said.dataset;
      const names = policies.split(" "), of = !policy || !policies || names.includes(policy);
      const visible = kind ? of && kinds.has(kind) : said.classList.contains("own") || of;
      said.toggleAttribute("data-hidden", !visible);
      differs ||= Boolean(kind) && visible && (inherited || !said.classList.contains("inherited"));
    }
    finding.toggleAttribute("data-hidden", !differs);
    shown += differs;
  }
  const lines = new Set(findings.filter((each) => each.offsetParent).map(above));
  for (const line of all(".line.marked")) line.toggleAttribute("data-none", !lines.has(line));
  $("shown").textContent = `${shown} shown`;
  for (const button of all("[data-choose]")) {
    button.setAttribute("aria-pressed", String(button.dataset.choose === policy));
  }
}

function choose(policy) {
  if (all("option", select).some((option) => option.value === policy)) select.value = policy;
  else select.value = "";
  show();
}

// A link names a policy and a line: #policy=torch@2.13&line=L36. That of a line alone is #L36.
function follow() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.has("policy")) choose(asked.get("policy"));
  const line = asked.get("line") ?? location.hash.slice(1), target = $(line);
  if (!target) return;
  const folded = target.closest("details");
  if (folded) folded.open = true;
  target.scrollIntoView();
}

function told() {
  const policy = select.value, where = location.pathname + location.search;
  history.replaceState(null, "", policy ? `#policy=${policy}` : where);
}

function step(by) {  // to the next line that has something to show, or the one before
  const lines = [...new Set(findings.filter((each) => each.offsetParent).map(above))];
  const at = lines.indexOf(document.activeElement?.closest(".line"));
  const next = lines[at < 0 ? (by > 0 ? 0 : lines.length - 1) : Math.min(Math.max(at + by, 0), lines.length - 1)];
  next?.querySelector("a").focus();
  next?.scrollIntoView({ block: "center" });
}

function addCopy(write) {
  const button = document.createElement("button");
  button.type = "button"; button.className = "copy"; button.textContent = "copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(write.querySelector("code").textContent);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  write.after(button);
}

if (select) {
  $("filters").addEventListener("change", () => { show(); told(); });
  for (const button of all("[data-choose]")) {
    button.addEventListener("click", () => { choose(button.dataset.choose); told(); });
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input")) return;
    if (event.key === "n") step(1);
    else if (event.key === "p") step(-1);
  });
  if (navigator.clipboard) all(".write").forEach(addCopy);
  addEventListener("hashchange", follow);
  show();
  follow();
}
