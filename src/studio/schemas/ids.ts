import { Type } from 'typebox';

/** What may be asked for by its id: whatever the id looks like, one that is not there is 404. */
const anyId = { pattern: '^[A-Za-z0-9._:-]{1,128}$' };

/** `wsp_…` */
export const workspaceId = Type.String(anyId);
/** `agt_…` */
export const agentId = Type.String(anyId);
/** `tsk_…` */
export const taskId = Type.String(anyId);
