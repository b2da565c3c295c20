import { Fault } from '../../kit/errors.ts';

// Letters, digits and a few signs: no spaces, controls, bidi or zero-width characters, and no lone
// combining marks, so that two names that look the same in one script are the same.
const pattern = /^[\p{L}\p{N}][\p{L}\p{N}._@+-]{0,127}$/u;

/** The form in which usernames are compared: NFKC, lower case, without blanks around it. */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').trim().toLowerCase().normalize('NFKC');
}

/** The key of a username for a new user; throws `invalid` when it could be mistaken for another. */
export function newUsernameKey(username: string): string {
  const key = usernameKey(username);
  if (pattern.test(key)) return key;
  throw new Fault('invalid', 'a username is made of letters, digits and . _ @ + -', {
    reason: 'invalid_username',
  });
}
