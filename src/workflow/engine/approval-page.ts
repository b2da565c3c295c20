/** What the page of a signed link shows. */
export interface ApprovalView {
  readonly executionId: string;
  readonly nodeId: string;
  readonly message: string;
  readonly isOpen: boolean;
}

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const style = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; color: #1a1a1a; background: #f6f6f4 }
main { max-width: 36rem; margin: 10vh auto; padding: 2rem; background: #fff; border-radius: 8px }
p { white-space: pre-wrap; overflow-wrap: anywhere }
small { color: #666 }
textarea { box-sizing: border-box; width: 100%; font: inherit; margin: 1rem 0 }
button { font: inherit; padding: .5rem 1.25rem; margin-right: .5rem }
@media (prefers-color-scheme: dark) {
  body { color: #eee; background: #161616 } main { background: #222 } small { color: #aaa }
}`;

/** A page with two buttons; opening it decides nothing, for mail scanners open links. */
export function approvalPage(view: ApprovalView): Response {
  const form = `<form method="post">
<label for="comment">Comment</label>
<textarea id="comment" name="comment" rows="3" maxlength="10000"></textarea>
<button name="approved" value="true">Approve</button>
<button name="approved" value="false">Reject</button>
</form>`;
  const body = view.isOpen ? form : '<p><strong>This was decided already.</strong></p>';
  return page(`<p>${escape(view.message)}</p>${body}<small>${escape(view.executionId)}</small>`);
}

/** Says that the decision was taken. */
export function decidedPage(approved: boolean): Response {
  return page(`<p><strong>${approved ? 'Approved' : 'Rejected'}.</strong> Thank you.</p>`);
}

function page(body: string): Response {
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Approval</title>
<style>${style}</style>
</head>
<body><main><h1>Approval</h1>${body}</main></body>
</html>
`;
  return new Response(text, { headers });
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
