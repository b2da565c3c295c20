/** The topic on which replicas tell one another which workspaces have changed. */
export const workspacesTopic = 'studio.workspaces';

/** The topic of all changes of files. */
export const filesTopic = 'studio.files';

/** The topic of devices that come and go. */
export const devicesTopic = 'studio.devices';

/** The topic on which replicas tell one another how agents do. */
export const agentsTopic = 'studio.agents';

/** The topic of changes of tasks. */
export const tasksTopic = 'studio.tasks';
