import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Refusal } from './api/refusal.ts';
import { App } from './app.tsx';
import './ui/theme.css';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // What was refused is refused again; only what did not answer may answer now.
      retry: (failures, error) =>
        failures < 2 && (!(error instanceof Refusal) || error.status === 0 || error.status >= 502),
    },
  },
});

const root = document.querySelector('#root');
if (!root) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
