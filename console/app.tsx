import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { onSessionEnd } from './api/send.ts';
import { areas } from './areas.tsx';
import { LoginPage } from './session/login-page.tsx';
import { logOut, readPerson, type Person } from './session/session.ts';
import { Empty } from './ui/empty.tsx';
import { Problem } from './ui/problem.tsx';

const personKey = ['person'];

/** The console: a login, then the areas beside a bar with their names. */
export function App(): ReactNode {
  const client = useQueryClient();
  const person = useQuery({
    queryKey: personKey,
    queryFn: async () => (await readPerson()) ?? null,
  });
  useEffect(() => onSessionEnd(() => client.setQueryData(personKey, null)), [client]);
  if (person.error) return <Problem error={person.error} onRetry={() => void person.refetch()} />;
  if (person.isPending) return null;
  if (person.data === null) {
    return <LoginPage onLogin={(found) => void client.setQueryData(personKey, found)} />;
  }
  const leave = async () => {
    await logOut();
    client.setQueryData(personKey, null);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey !== personKey });
  };
  return (
    <div className="shell">
      <Bar person={person.data} onLeave={() => void leave()} />
      <main className="main">
        <Switch>
          {areas.map(({ path, Page }) => (
            <Route key={path} path={path} nest={path !== '/'}>
              <Page />
            </Route>
          ))}
          <Route>
            <Empty title="There is no such page" />
          </Route>
        </Switch>
      </main>
    </div>
  );
}

function Bar({ person, onLeave }: { readonly person: Person; readonly onLeave: () => void }) {
  const [location] = useLocation();
  return (
    <nav className="bar" aria-label="Areas">
      <Link href="/" className="bar-title">
        <img src="/icon.svg" alt="" width="22" height="22" /> Ennead
      </Link>
      {areas.map(({ path, title }) => {
        const isHere = path === '/' ? location === '/' : `${location}/`.startsWith(`${path}/`);
        return (
          <Link
            key={path}
            href={path}
            className={isHere ? 'bar-link on' : 'bar-link'}
            aria-current={isHere ? 'page' : undefined}
          >
            {title}
          </Link>
        );
      })}
      <div className="bar-foot">
        <span>{person.preferred_username ?? person.name ?? person.sub}</span>
        <button type="button" className="quiet" onClick={onLeave}>
          Log out
        </button>
      </div>
    </nav>
  );
}
