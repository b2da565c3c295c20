import type { ReactNode } from 'react';

/** A field named `password` for one that is given to a user. */
export function NewPassword(): ReactNode {
  return (
    <input name="password" type="password" required minLength={8} autoComplete="new-password" />
  );
}
