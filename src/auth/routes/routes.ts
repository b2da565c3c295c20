import type { Handlers } from '../../kit/http/call.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';
import { apiKeyHandlers } from './api-keys.ts';
import { auditHandlers } from './audit.ts';
import { keyHandlers } from './keys.ts';
import { metadataHandlers } from './metadata.ts';
import { oauthHandlers } from './oauth.ts';
import { roleHandlers } from './roles.ts';
import { secondFactorHandlers } from './second-factor.ts';
import { sessionHandlers } from './sessions.ts';
import { suiteHandlers } from './suite.ts';
import { tokenHandlers } from './tokens.ts';
import { userHandlers } from './users.ts';

/** The HTTP edge of the authentication service. */
export function authHandlers(parts: AuthParts): Handlers<typeof authContract> {
  return {
    ...tokenHandlers(parts),
    ...userHandlers(parts),
    ...apiKeyHandlers(parts),
    ...keyHandlers(parts),
    ...oauthHandlers(parts),
    ...auditHandlers(parts),
    ...roleHandlers(parts),
    ...sessionHandlers(parts),
    ...secondFactorHandlers(parts),
    ...metadataHandlers(parts),
    ...suiteHandlers(parts),
  };
}
