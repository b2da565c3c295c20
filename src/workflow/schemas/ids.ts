import { Type } from 'typebox';

/** What may be asked for by its id: one of this form that is not there is 404. */
const form = { minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9._-]+$' };

export const workflowId = Type.String({ ...form, description: 'of a workflow' });
export const triggerId = Type.String({ ...form, description: 'of a trigger' });
export const batchId = Type.String({ ...form, description: 'of a batch' });
export const executionId = Type.String({ ...form, description: 'of an execution' });
