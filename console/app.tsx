import { useMutation } from '@tanstack/react-query';
import { useRef, type MouseEvent, type ReactNode, type RefObject } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { areas } from './areas.tsx';
import { LoginPage } from './session/login-page.tsx';
import { usePresence } from './session/person.ts';
import { SessionEnded } from './session/session-ended.tsx';
import { logOut, type Person } from './session/session.ts';
import { FailureBoundary } from './ui/failure-boundary.tsx';
import { NoSuchPage } from './ui/no-such-page.tsx';
import { Problem } from './ui/problem.tsx';

/** The console: a login, then the areas beside a bar with their names. */
export function App(): ReactNode {
  const { person, hasEnded, enter, leave } = usePresence();
  const { data, error, refetch } = person;
  if (data === undefined) {
    return error ? <Problem error={error} onRetry={() => void refetch()} /> : null;
  }
  if (data === null) return <LoginPage onLogin={enter} />;
  return (
    <>
      <Shell key={data.sub} person={data} isAway={hasEnded} onLeave={leave} />
      {hasEnded ? <SessionEnded onLogin={enter} /> : null}
    </>
  );
}

interface BarProps {
  readonly person: Person;
  readonly onLeave: () => void;
}

function Shell({ isAway, ...props }: BarProps & { readonly isAway: boolean }) {
  const main = useRef<HTMLElement>(null);
  return (
    <div className={isAway ? 'shell away' : 'shell'}>
      <SkipLink to={main} />
      <Bar {...props} />
      <main id="content" className="main" tabIndex={-1} ref={main}>
        <Switch>
          {areas.map(({ path, title, Page }) => (
            <Route key={path} path={path} nest={path !== '/'}>
              <FailureBoundary title={title}>
                <Page />
              </FailureBoundary>
            </Route>
          ))}
          <Route>
            <NoSuchPage />
          </Route>
        </Switch>
      </main>
    </div>
  );
}

/** Leads the keyboard past the bar, and leaves the address as it is. */
function SkipLink({ to }: { readonly to: RefObject<HTMLElement | null> }) {
  const skip = (event: MouseEvent) => {
    event.preventDefault();
    to.current?.focus();
  };
  return (
    <a className="skip" href="#content" onClick={skip}>
      Skip to the content
    </a>
  );
}

function Bar({ person, onLeave }: BarProps) {
  const [location] = useLocation();
  const leaving = useMutation({ mutationFn: logOut, onSuccess: onLeave });
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
        <button type="button" className="quiet" onClick={() => leaving.mutate()}>
          Log out
        </button>
      </div>
      {leaving.error ? <Problem error={leaving.error} /> : null}
    </nav>
  );
}
