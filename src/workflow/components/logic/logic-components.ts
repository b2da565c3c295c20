import type { Component } from '../component.ts';
import { createApproval, type ApprovalDependencies } from './approval.ts';
import { condition } from './condition.ts';
import { loop } from './loop.ts';
import { merge } from './merge.ts';
import { parallel } from './parallel.ts';
import { placeholder } from './placeholder.ts';
import { createSubWorkflow, type ChildStarter } from './sub-workflow.ts';
import { switchComponent } from './switch.ts';
import { createWait } from './wait.ts';

export interface LogicDependencies extends ApprovalDependencies {
  /** Asked when the first child is started: the engine needs the components before it can exist. */
  readonly starter: () => ChildStarter;
}

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
    createSubWorkflow(dependencies.starter),
  ];
}
