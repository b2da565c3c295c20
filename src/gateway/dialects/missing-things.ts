/** What a request can name besides its model, as providers' APIs call it. */
const things =
  /(?<![a-z])(?:assistant|batch|cached[ _-]?content|container|conversation|document|file|image|item|previous[ _]response|prompt|response|session|skill|thread|tool|vector[ _]store)(?![a-rt-z])/i;
/** Names that OpenAI and Anthropic give to such things: `rs_1`, `file-abc`, `msg_01`. */
const ids =
  /(?<![\w-])(?:asst|batch|call|cntr|conv|container|fc|file|fs|img|item|msg|pmpt|resp|rs|skill|thread|toolu|vs|ws)[-_]\w/;
const model = /(?<![a-z])(?:model|deployment|endpoint|engine)s?(?![a-z])/i;

/**
 * Whether what is said of something that is not there (404) is about a thing that the request names,
 * such as a file or a thread. All else is about the model, or about the provider's address.
 */
export function isOfAnotherThing(words: string): boolean {
  return !model.test(words) && (things.test(words) || ids.test(words));
}
