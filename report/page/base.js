// The page of a report. What others wrote enters the document as text alone, never as markup.
"use strict";
const $ = (id) => document.getElementById(id);

// Bytes in base64 and gzip to what they hold. The element is emptied: its text is the larger half.
async function unpacked(element) {
  const text = atob(element.textContent.trim());
  element.textContent = "";
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(plain).text());
}

// What steers or hides stands as \u{..}: the characters that a terminal is spared, too (jobs/base/text.cpp).
const HIDDEN = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f" +
  "\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]", "gu");
const visible = (text) => String(text).replace(HIDDEN, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");

// An element: el("td", {className: "n"}, "text", child, ...).
function el(name, how, ...children) {
  const made = Object.assign(document.createElement(name), how);
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    made.append(child instanceof Node ? child : visible(child));
  }
  return made;
}

// One of a drawing: drawn("rect", {x: 0, width: 5}).
function drawn(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const link = (hash, text, how) => el("a", { href: "#" + hash, ...how }, text);
const query = (values) => new URLSearchParams(Object.entries(values).filter(([, v]) => v)).toString();
const percent = (value) => (value === null || value === undefined ? "-" : (100 * value).toFixed(1));
const folded = (title, ...inside) => el("details", {}, el("summary", {}, title), inside);
const opened = (title, ...inside) => Object.assign(folded(title, ...inside), { open: true });

let data, index, count, several; // of the report, once it is unpacked

const word = (key, i) => index[key].words[index[key].rows[i]];
const idOf = (i) =>
  `${word("cell", i).split("@")[0]}/${word("task", i)}#${index.replicate[i]}` + (several ? "@" + word("run", i) : "");
