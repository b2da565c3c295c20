import type { FailureKind } from '../failure.ts';
import { isOfAnotherThing } from '../missing-things.ts';
import { kindOfStatus } from '../status-kinds.ts';

/** What an error answer says, in lower case where it is text. */
export interface ErrorWords {
  readonly status: number;
  readonly code: string;
  readonly type: string;
  readonly message: string;
  /** The field that it complains of. */
  readonly param: string;
  /** It came as text, perhaps from somebody on the way. */
  readonly isPlain: boolean;
}

/** Which kind of failure an error is: by what it says where that is more telling than its status. */
export function kindOf(words: ErrorWords): FailureKind {
  return kindByWords(words) ?? kindOfStatus(words.status);
}

function kindByWords(words: ErrorWords): FailureKind | undefined {
  const { status } = words;
  if (status < 500 && isFiltered(words)) return 'filtered';
  if (isTooLong(words)) return 'too-long';
  if (isUnpaid(words)) return 'refused';
  if (status === 200) return kindByName(words) ?? kindByMessage(words);
  if (status === 400 || status === 422) return kindByMessage(words);
  return status === 404 && isOfRequest(words) ? 'rejected' : undefined;
}

/** Whether what is not there is what the request names in a field, and not the model. */
function isOfRequest({ code, message, param, isPlain }: ErrorWords): boolean {
  if (isPlain) return false;
  if (param !== '' && param !== 'model') return !modelWords.test(message);
  return isOfAnotherThing(`${code} ${message}`);
}

/** Names of errors inside a stream or an answer of status 200, where no status tells. */
const kindsByName: Readonly<Record<string, FailureKind | undefined>> = {
  rate_limit_exceeded: 'limited',
  rate_limit_error: 'limited',
  too_many_requests: 'limited',
  requests: 'limited',
  tokens: 'limited',
  resource_exhausted: 'limited',
  invalid_api_key: 'refused',
  authentication_error: 'refused',
  permission_error: 'refused',
  permission_denied: 'refused',
  unauthenticated: 'refused',
  model_not_found: 'missing',
  model_decommissioned: 'missing',
  invalid_model: 'missing',
  not_found_error: 'missing',
  notfounderror: 'missing',
  timeout: 'late',
  invalid_request_error: 'rejected',
  badrequesterror: 'rejected',
  invalid_argument: 'rejected',
};

const filterNames = new Set([
  'content_filter',
  'content_policy_violation',
  'responsibleaipolicyviolation',
  'datainspectionfailed',
  'data_inspection_failed',
  'moderation_blocked',
]);
const filterWords =
  /content management policy|content policy|usage guidelines|content exists risk|requires moderation|inappropriate content|safety system|flagged (?:as|by|for)/;

function isFiltered({ code, type, message }: ErrorWords): boolean {
  return filterNames.has(code) || filterNames.has(type) || filterWords.test(message);
}

const lengthNames = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'tokens_limit_reached',
  'request_too_large',
]);

/** The words of OpenAI, Azure, vLLM, Mistral, xAI, Groq, Cerebras, Gemini, TGI, llama.cpp and more. */
const lengthWords = [
  /max(?:imum)? (?:context|prompt|model|sequence|input) (?:length|size|tokens)/,
  /context (?:length|window|size|limit)s?\b.*\b(?:exceed|overflow|limit)/,
  /(?:exceed|greater than|larger than|longer than|beyond|too long for)[^.]*\b(?:context|(?:token|configured) limit|max(?:imum)? (?:number of )?tokens)/,
  /(?:prompt|input|messages?) (?:\([^)]*\) )?(?:is|are|was) (?:too long|too large|longer than)/,
  /reduce the length of (?:the|your) (?:messages|prompt|input)/,
  /exceeded model token limit/,
  /too many (?:input )?tokens:/,
  /prompt exceeds max length/,
  /request (?:body )?too large for/,
  /tokens` must be <=|must have less than \d+ tokens/,
];

function isTooLong({ status, code, type, message }: ErrorWords): boolean {
  if (lengthNames.has(code) || lengthNames.has(type)) return true;
  const mayBe = status === 200 || (status >= 400 && status < 500) || status === 500;
  return mayBe && lengthWords.some((words) => words.test(message));
}

const unpaidNames = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'exceeded_current_quota_error',
  'insufficient_balance',
  'insufficient_credits',
  'arrearage',
]);
const unpaidWords =
  /insufficient (?:account )?(?:balance|funds|credits?)|(?:requires|out of|not enough|no) (?:more )?credits|account is not active/;

function isUnpaid({ status, code, type, message }: ErrorWords): boolean {
  if (unpaidNames.has(code) || unpaidNames.has(type)) return true;
  return status < 500 && unpaidWords.test(message);
}

const keyWords =
  /(?:api[ _-]?key|authentication|credential)s?.*\b(?:invalid|incorrect|not valid|missing|expired|fail)|(?:invalid|incorrect|missing|wrong|expired) (?:api[ _-]?key|credential|authentication)/;
const modelWords =
  /\bmodel:? ?['"`]?[\w./:@-]*['"`]? ?(?:does not exist|not exist|not found|(?:is|was) not (?:found|supported|available)|(?:has been|is) (?:decommissioned|deprecated))|not a valid model|(?:invalid|unknown|unsupported|no such) model|unable to access model/;

function kindByName({ code, type }: ErrorWords): FailureKind | undefined {
  return kindsByName[code] ?? kindsByName[type];
}

/** Where a provider answers 400 to what others have a status for. */
function kindByMessage(words: ErrorWords): FailureKind | undefined {
  if (keyWords.test(words.message)) return 'refused';
  const byName = kindByName(words);
  if (byName === 'missing' || byName === 'limited') return byName;
  return modelWords.test(words.message) ? 'missing' : undefined;
}
