import { Type } from 'typebox';
import { plainEnvelope, type Envelope } from '../kit/envelope.ts';

const openAiError = Type.Object({
  error: Type.Object({
    message: Type.String(),
    type: Type.String(),
    param: Type.Union([Type.String(), Type.Null()]),
    code: Type.Union([Type.String(), Type.Null()]),
  }),
});

/** OpenAI's envelope below `/v1`, the plain one elsewhere. */
export const modelsEnvelope: Envelope = {
  schema: Type.Union([plainEnvelope.schema, openAiError], { $id: 'Error' }),
  wrap: (fault, context) => {
    if (!context.path.startsWith('/v1/')) return plainEnvelope.wrap(fault, context);
    const { param } = fault.detail;
    return {
      error: {
        message: fault.message,
        type: fault.status < 500 ? 'invalid_request_error' : 'server_error',
        param: typeof param === 'string' ? param : null,
        code: fault.reason ?? fault.code,
      },
    };
  },
};
