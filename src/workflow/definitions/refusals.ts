import { Fault } from '../../kit/errors.ts';
import type { FlowFault } from '../flow/flow.ts';

/** For a workflow, or a version of one, that is not there. */
export function unknownWorkflow(): Fault {
  return new Fault('not_found', 'there is no such workflow, or no such version of it', {
    reason: 'workflow_not_found',
  });
}

/** With everything that is wrong, and the first of it in words. */
export function invalidFlow(faults: readonly FlowFault[]): Fault {
  const [first] = faults;
  const more = faults.length > 1 ? `, and ${faults.length - 1} more` : '';
  return new Fault('invalid', `the flow does not hold: ${first?.message ?? 'unknown'}${more}`, {
    reason: 'invalid_flow',
    detail: { faults },
  });
}

/** For a change that was made from something older than what is there. */
export function changedMeanwhile(): Fault {
  return new Fault('conflict', 'the workflow has changed meanwhile: read it again', {
    reason: 'workflow_changed',
  });
}

/** For a change to a workflow that is archived. */
export function archived(): Fault {
  const message = 'the workflow is archived: publish it to use it again';
  return new Fault('conflict', message, { reason: 'workflow_archived' });
}

/** For a change to what is built in. */
export function builtInWorkflow(): Fault {
  const message = 'this workflow is built in: make one of your own from the template';
  return new Fault('forbidden', message, { reason: 'built_in_workflow' });
}

/** For a change to what is another's. */
export function notTheOwner(): Fault {
  const message = 'only its owner, or who holds workflow:admin, may do this to a workflow';
  return new Fault('forbidden', message, { reason: 'not_the_owner' });
}

/** Of a version that only the owner of its workflow may try. */
export function draftVersion(version: number): Fault {
  const message = `version ${version} is a draft: publish it first`;
  return new Fault('conflict', message, { reason: 'workflow_not_active' });
}
