import type { ReactNode } from 'react';
import { Badge } from '../../ui/badge.tsx';
import type { User } from '../answers.ts';

/** Whether a user may log in. */
export function UserBadge({ user }: { readonly user: Pick<User, 'disabled'> }): ReactNode {
  return user.disabled ? <Badge state="disabled" tone="bad" /> : <Badge state="active" />;
}
