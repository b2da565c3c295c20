/** What the gateway says to its other replicas, logs and metrics, named once. */

/** A provider was put or deleted; replicas read it again. */
export const providerTopic = 'gateway.providers';

/** A cached answer was evicted; replicas forget it. */
export const cacheTopic = 'gateway.cache';

/** A budget was put or deleted; replicas read it again. */
export const budgetTopic = 'gateway.budgets';
