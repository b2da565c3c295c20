import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { mayPass } from './api/refusal.ts';
import { App } from './app.tsx';
import './ui/theme.css';

const awayMs = 10_000;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (failures, error) => failures < 2 && mayPass(error),
      // A page goes on by itself once the service that it waits for is back.
      refetchInterval: ({ state: { error } }) => (error && mayPass(error) ? awayMs : false),
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
