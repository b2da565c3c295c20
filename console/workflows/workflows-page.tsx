import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import { NoSuchPage } from '../ui/no-such-page.tsx';
import { BatchListPage } from './batches/batch-list-page.tsx';
import { BatchPage } from './batches/batch-page.tsx';
import { AnyEditorPage } from './editor/any-editor-page.tsx';
import { ExecutionListPage } from './executions/execution-list-page.tsx';
import { ExecutionPage } from './executions/execution-page.tsx';
import { TestListPage } from './flow-tests/test-list-page.tsx';
import { ImportPage } from './list/import-page.tsx';
import { TemplatesPage } from './list/templates-page.tsx';
import { WorkflowListPage } from './list/workflow-list-page.tsx';
import { TriggerListPage } from './triggers/trigger-list-page.tsx';
import './workflows.css';

/** Workflows: the list, their editor, their tests, what starts them, and what became of their executions. */
export function WorkflowsPage(): ReactNode {
  return (
    <Switch>
      <Route path="/" component={WorkflowListPage} />
      <Route path="/templates" component={TemplatesPage} />
      <Route path="/import" component={ImportPage} />
      <Route path="/executions">
        <ExecutionListPage />
      </Route>
      <Route path="/batches">
        <BatchListPage />
      </Route>
      <Route path="/:id">{({ id }) => <AnyEditorPage id={id} />}</Route>
      <Route path="/:id/triggers">{({ id }) => <TriggerListPage workflowId={id} />}</Route>
      <Route path="/:id/tests">{({ id }) => <TestListPage workflowId={id} />}</Route>
      <Route path="/:id/batches">{({ id }) => <BatchListPage workflowId={id} />}</Route>
      <Route path="/:id/batches/:batchId">
        {({ batchId }) => <BatchPage key={batchId} batchId={batchId} />}
      </Route>
      <Route path="/:id/executions">{({ id }) => <ExecutionListPage workflowId={id} />}</Route>
      <Route path="/:id/executions/:executionId">
        {({ executionId }) => <ExecutionPage key={executionId} executionId={executionId} />}
      </Route>
      <Route>
        <NoSuchPage />
      </Route>
    </Switch>
  );
}
