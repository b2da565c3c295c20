import { expect, it } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { exportAnswer, failureAnswer } from './answers.ts';

const bytes = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const json = (answer: Uint8Array): unknown => JSON.parse(Buffer.from(answer).toString());

it('a full success says nothing', () => {
  expect(exportAnswer('protobuf', { rejectedCount: 0 })).toHaveLength(0);
  expect(json(exportAnswer('json', { rejectedCount: 0 }))).toEqual({});
});

it('a partial success says how many spans were rejected and why', () => {
  const rejected = { rejectedCount: 300, rejection: 'why' };
  expect(Buffer.from(exportAnswer('protobuf', rejected))).toEqual(
    bytes('0a 08  08 ac02  12 03 776879'),
  );
  expect(json(exportAnswer('json', rejected))).toEqual({
    partialSuccess: { rejectedSpans: '300', errorMessage: 'why' },
  });
});

it('a failure is a google.rpc.Status with the code of gRPC', () => {
  const fault = new Fault('invalid', 'no');
  expect(Buffer.from(failureAnswer('protobuf', fault))).toEqual(bytes('08 03  12 02 6e6f'));
  expect(json(failureAnswer('json', fault))).toEqual({ code: 3, message: 'no' });
});

it('a failure that passes says when to come again', () => {
  const fault = new Fault('exhausted', 'no', { retryAfter: 1.5 });
  const type = Buffer.from('type.googleapis.com/google.rpc.RetryInfo');
  const delay = bytes('0a 08  08 01  10 80cab5ee01');
  const any = Buffer.concat([bytes('0a 28'), type, bytes('12 0a'), delay]);
  expect(Buffer.from(failureAnswer('protobuf', fault))).toEqual(
    Buffer.concat([bytes('08 08  12 02 6e6f  1a 36'), any]),
  );
  expect(json(failureAnswer('json', fault))).toEqual({
    code: 8,
    message: 'no',
    details: [{ '@type': type.toString(), retryDelay: '1.5s' }],
  });
});
