const path = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\]|\["[^"\\]*"\])*$/;

/** A text with placeholders as a runtime expression; undefined when one of them is more than a path. */
export function textToJq(text: string): string | undefined {
  if (text.includes('{%')) return undefined;
  const pieces = text.split(/\{\{([^{}]*)\}\}/);
  if (pieces.length === 1) return text;
  const parts: string[] = [];
  for (const [at, piece] of pieces.entries()) {
    if (at % 2 === 0) {
      if (piece !== '') parts.push(JSON.stringify(piece));
      continue;
    }
    const place = pathToJq(piece.trim());
    if (place === undefined) return undefined;
    parts.push(pieces.length === 3 && text === `{{${piece}}}` ? place : `(${place} | tostring)`);
  }
  return `\${ ${parts.join(' + ')} }`;
}

const celToken =
  /\s*("(?:[^"\\]|\\.)*"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\]|\["[^"\\]*"\])*(?!\w*\s*\()|-?\d+(?:\.\d+)?|==|!=|<=|>=|<|>|&&|\|\||[()])/y;

/** A condition as jq; undefined when it holds more than paths and comparisons. */
export function conditionToJq(condition: string): string | undefined {
  const words: string[] = [];
  celToken.lastIndex = 0;
  const text = condition.trimEnd();
  while (celToken.lastIndex < text.length) {
    const word = celToken.exec(text)?.[1];
    const written = word === undefined ? undefined : wordToJq(word);
    if (written === undefined) return undefined;
    words.push(written);
  }
  return words.length > 0 ? words.join(' ') : undefined;
}

const signs: Readonly<Record<string, string>> = { '&&': 'and', '||': 'or' };

function wordToJq(word: string): string | undefined {
  if (signs[word]) return signs[word];
  if (/^["\d\-=!<>()]/.test(word) || /^(true|false|null)$/.test(word)) return word;
  return pathToJq(word);
}

function pathToJq(text: string): string | undefined {
  if (!path.test(text)) return undefined;
  const [root = ''] = /^\w+/.exec(text) ?? [];
  const rest = text.slice(root.length);
  if (root === 'inputs') return `$workflow.input${rest}`;
  if (root === 'loop' || root === 'execution') return undefined;
  return root === 'nodes' ? `$context${rest}` : `$context.${root}${rest}`;
}
