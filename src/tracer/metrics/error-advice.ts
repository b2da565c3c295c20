/** What advice is given by. */
export interface CountedError {
  readonly errorCode: string;
  /** Of all errors, 0..100. */
  readonly percentage: number;
  readonly affectedAgents: readonly string[];
}

const adviceMax = 5;
const frequentPercent = 5;
const highErrorRate = 0.1;

const advice: readonly (readonly [pattern: RegExp, sentence: string])[] = [
  [
    /model.*(timeout|deadline)/i,
    'give the model more time, send shorter prompts, or let another provider stand in',
  ],
  [
    /timeout|deadline|timedout|\b504\b/i,
    'look at the bottlenecks of the slowest traces, and raise the deadline only if they are sound',
  ],
  [
    /rate.?limit|too.?many|exhausted|quota|\b429\b/i,
    'spread the calls over time or over more keys, and retry after the time that the answer names',
  ],
  [
    /unavailable|econnrefused|econnreset|enotfound|\b50[23]\b/i,
    'check that it runs and answers its health, and retry with a growing delay',
  ],
  [
    /validation|invalid|bad.?request|schema|\b4(00|22)\b/i,
    'compare what the callers send with what the contract asks for',
  ],
  [
    /unauth|forbidden|permission|credential|\b40[13]\b/i,
    'check the credentials and permissions of the callers',
  ],
  [/not.?found|\b404\b/i, 'check the names and addresses that the callers use'],
  [/memory|\boom\b/i, 'give it more memory, or bound what one request may take'],
];

/** One sentence for each error that is frequent, the most frequent first. */
export function recommend(errors: readonly CountedError[], errorRate: number): string[] {
  const sentences = errors
    .filter(({ percentage }) => percentage >= frequentPercent)
    .slice(0, adviceMax)
    .map(sentenceOf);
  if (errorRate < highErrorRate) return sentences;
  const percent = Math.round(errorRate * 100);
  return [
    `${percent} % of all traces fail: an alert on error_rate would have told you`,
    ...sentences,
  ];
}

function sentenceOf({ errorCode, percentage, affectedAgents }: CountedError): string {
  const found = advice.find(([pattern]) => pattern.test(errorCode))?.[1];
  const what = found ?? 'read a failing trace to see where it comes from';
  const [first, ...others] = affectedAgents;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  const where = first === undefined ? '' : ` in ${first}${more}`;
  return `${errorCode} (${percentage} % of errors)${where}: ${what}`;
}
