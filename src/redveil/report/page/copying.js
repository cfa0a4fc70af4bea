/**
 * Findings and answers as text and JSON, and the clipboard.
 */

import { announce, h } from "./dom.js";
import { fixed, intervalText, pText } from "./wording.js";

/** Return findings or answers in a format: "text" or "json". */
export function written(entries, format) {
  if (format === "json") return JSON.stringify(entries.map(plain), null, 1);
  return entries.map(textLine).join("\n");
}

/** Copy a text, and say so. */
export async function copy(text, what) {
  const done = (await byClipboard(text)) || bySelection(text);
  announce(done ? `${what} copied` : `${what} could not be copied`);
  return done;
}

async function byClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copy without the clipboard's interface, which pages opened from a file may not have. */
function bySelection(text) {
  const field = h("textarea", { class: "unseen", readonly: true });
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

function textLine(one) {
  return (
    `${one.left.text} ⟷ ${one.right.text}: Jaccard ${intervalText(one.jaccard, 2)} ` +
    `(expected if unrelated ${fixed(one.expected_jaccard, 2)}), corrected ` +
    `${intervalText(one.corrected, 2)}, both ${intervalText(one.support.both, 0)}, ` +
    `p at most ${pText(one.p_value)}`
  );
}

function plain(one) {
  return {
    left: one.left.text,
    right: one.right.text,
    jaccard: one.jaccard,
    expected_jaccard: one.expected_jaccard,
    corrected: one.corrected,
    support: one.support,
    p_value: one.p_value,
    p_value_confirming: one.p_value_confirming,
    p_value_estimate: one.p_value_estimate,
  };
}
