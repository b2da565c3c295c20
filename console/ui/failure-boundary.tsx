import { Component, type ReactNode } from 'react';
import { Page } from './page.tsx';
import { Problem } from './problem.tsx';

interface BoundaryProps {
  readonly title: string;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly error?: Error;
}

/**
 * Keeps what stands around a page when the page fails: most often its program cannot be had, because the
 * network is away or an upgrade has put another in its place, which loading anew gets.
 */
export class FailureBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = {};

  static getDerivedStateFromError(error: Error): BoundaryState {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    const { title, children } = this.props;
    if (error === undefined) return children;
    return (
      <Page title={title}>
        <Problem
          error={{ message: `This page cannot be shown: ${error.message}` }}
          onRetry={() => window.location.reload()}
        />
      </Page>
    );
  }
}
