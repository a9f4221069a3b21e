// Shared by both pages: reads the data and adds elements. Words of the model enter a page as text only, never as HTML.
"use strict";

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);

function setAttributes(node, attributes, text) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

function add(parent, tag, attributes = {}, text = undefined) {
  return parent.appendChild(setAttributes(document.createElement(tag), attributes, text));
}

// Adds an SVG element to an SVG element.
function draw(parent, tag, attributes = {}, text = undefined) {
  return parent.appendChild(setAttributes(document.createElementNS(parent.namespaceURI, tag), attributes, text));
}

function showFacts(what) {
  const model = data.facts.find((fact) => fact.name === "model");
  const title = what + (model ? " of " + model.value : "");
  document.title = title;
  byId("title").textContent = title;
  for (const fact of data.facts) {
    if (fact === model) continue;
    const span = add(byId("facts"), "span");
    add(span, "b", {}, fact.name);
    span.append(fact.value);
  }
}
