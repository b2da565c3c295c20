/** An operation of GitLab's REST API; `:name` in the path is a parameter. */
export interface IdpAction {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/api/v4`. */
  readonly path: string;
}

const project = '/projects/:id';

/** What flows ask of the identity provider by name (GitLab REST, v4). */
export const idpActions: Readonly<Record<string, IdpAction>> = {
  'user.current': { method: 'GET', path: '/user' },
  'users.list': { method: 'GET', path: '/users' },
  'groups.list': { method: 'GET', path: '/groups' },
  'groups.get': { method: 'GET', path: '/groups/:id' },
  'groups.members': { method: 'GET', path: '/groups/:id/members' },
  'projects.list': { method: 'GET', path: '/projects' },
  'projects.get': { method: 'GET', path: project },
  'projects.create': { method: 'POST', path: '/projects' },
  'branches.list': { method: 'GET', path: `${project}/repository/branches` },
  'branches.create': { method: 'POST', path: `${project}/repository/branches` },
  'commits.list': { method: 'GET', path: `${project}/repository/commits` },
  'commits.create': { method: 'POST', path: `${project}/repository/commits` },
  'files.get': { method: 'GET', path: `${project}/repository/files/:file_path` },
  'files.create': { method: 'POST', path: `${project}/repository/files/:file_path` },
  'files.update': { method: 'PUT', path: `${project}/repository/files/:file_path` },
  'issues.list': { method: 'GET', path: `${project}/issues` },
  'issues.get': { method: 'GET', path: `${project}/issues/:issue_iid` },
  'issues.create': { method: 'POST', path: `${project}/issues` },
  'issues.update': { method: 'PUT', path: `${project}/issues/:issue_iid` },
  'issues.comment': { method: 'POST', path: `${project}/issues/:issue_iid/notes` },
  'merge_requests.list': { method: 'GET', path: `${project}/merge_requests` },
  'merge_requests.get': { method: 'GET', path: `${project}/merge_requests/:merge_request_iid` },
  'merge_requests.create': { method: 'POST', path: `${project}/merge_requests` },
  'merge_requests.merge': {
    method: 'PUT',
    path: `${project}/merge_requests/:merge_request_iid/merge`,
  },
  'merge_requests.comment': {
    method: 'POST',
    path: `${project}/merge_requests/:merge_request_iid/notes`,
  },
  'pipelines.list': { method: 'GET', path: `${project}/pipelines` },
  'pipelines.get': { method: 'GET', path: `${project}/pipelines/:pipeline_id` },
  'pipelines.create': { method: 'POST', path: `${project}/pipeline` },
};
