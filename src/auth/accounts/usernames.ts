import { Fault } from '../../kit/errors.ts';

// Letters, digits and a few signs: no spaces, controls, bidi or zero-width characters, and no lone
// combining marks, so that two names that look the same in one script are the same.
const pattern = /^[\p{L}\p{N}][\p{L}\p{N}._@+-]{0,127}$/u;

// Scripts with letters that look like those of another: one name may use one of them.
const likeScripts = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Cherokee}/u,
];

/** The form in which usernames are compared: NFKC, lower case, without blanks around it. */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').trim().toLowerCase().normalize('NFKC');
}

/** The key of a username for a new user; throws `invalid` when it could be mistaken for another. */
export function newUsernameKey(username: string): string {
  const key = usernameKey(username);
  if (!pattern.test(key)) throw invalidName('a username is made of letters, digits and . _ @ + -');
  if (likeScripts.filter((script) => script.test(key)).length > 1) {
    throw invalidName('a username mixes no scripts whose letters look alike');
  }
  return key;
}

function invalidName(message: string): Fault {
  return new Fault('invalid', message, { reason: 'invalid_username' });
}
