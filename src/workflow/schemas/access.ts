/** Whoever may read workflows and executions. */
export const mayRead = 'workflow:read';

/** Whoever may see what there is to run, and follow what they have run. */
export const mayFollow = [mayRead, 'workflow:execute'] as const;

/** Whoever may start, cancel and resume executions. */
export const mayExecute = 'workflow:execute';

/** Whoever may make workflows, and change those of their own. */
export const mayCreate = 'workflow:create';

/** Whoever sees and changes what others own. */
export const administration = 'workflow:admin';
