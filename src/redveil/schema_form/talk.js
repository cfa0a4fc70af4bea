/**
 * Questions to the server. The token stands in the page's address, after the #.
 */

const TOKEN = location.hash.slice(1);

/** Ask the server; return its answer, or throw an error that says what went wrong, in a line. */
export async function ask(path, content) {
  const headers = { "X-Redveil-Token": TOKEN };
  const request = { headers, cache: "no-store" };
  if (content !== undefined) {
    headers["Content-Type"] = "application/json";
    Object.assign(request, { method: "POST", body: JSON.stringify(content) });
  }
  let answer;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new Error(
      "redveil is no longer running; start it again with redveil schema edit. "
        + "What you changed is still on this page.",
    );
  }
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
}
