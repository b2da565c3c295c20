/** The topic of traces that became complete, for every replica's streams. */
export const completedTopic = 'tracer.completed';

/** The name of the port of OTLP/gRPC. */
export const otlpGrpc = 'OTLP/gRPC';
