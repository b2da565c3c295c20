import { Type } from 'typebox';

/** What may be asked for by its id: whatever the id looks like, one that is not there is 404. */
const pattern = '^[A-Za-z0-9._:-]{1,128}$';

export const workspaceId = Type.String({ pattern, description: 'of a workspace, `wsp_…`' });
export const agentId = Type.String({ pattern, description: 'of an agent, `agt_…`' });
export const taskId = Type.String({ pattern, description: 'of a task, `tsk_…`' });
