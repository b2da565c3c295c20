import type { Component } from '../component.ts';
import { createApproval, type ApprovalDependencies } from './approval.ts';
import { condition } from './condition.ts';
import { loop } from './loop.ts';
import { merge } from './merge.ts';
import { parallel } from './parallel.ts';
import { placeholder } from './placeholder.ts';
import { createSubWorkflow, type SubWorkflowDependencies } from './sub-workflow.ts';
import { switchComponent } from './switch.ts';
import { createWait } from './wait.ts';

export type LogicDependencies = ApprovalDependencies & SubWorkflowDependencies;

/** What decides where a flow goes on, and when. */
export function logicComponents(dependencies: LogicDependencies): readonly Component[] {
  return [
    condition,
    switchComponent,
    loop,
    parallel,
    merge,
    placeholder,
    createWait(dependencies.now),
    createApproval(dependencies),
    createSubWorkflow(dependencies),
  ];
}
