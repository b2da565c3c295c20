import type { Handler } from '../../kit/http/call.ts';
import type { Router, RoutingQuestion } from '../routing/plan.ts';
import type { routeRoutes as routes } from '../schemas/route.ts';

export interface RouteParts {
  readonly router: Router;
  /** What a completion's body asks; throws `invalid` as the completion itself would. */
  readonly readQuestion: (body: Readonly<Record<string, unknown>>) => RoutingQuestion;
}

/** The edge of routing decisions. */
export function routeHandlers({ router, readQuestion }: RouteParts): {
  readonly route: Handler<typeof routes.route>;
} {
  return {
    route: ({ body }) => {
      // The schema lets any object through; the reader checks it.
      const question = readQuestion(body as Readonly<Record<string, unknown>>);
      const plan = router.plan({ ...question, isComplete: true });
      const candidates = plan.candidates.map(({ target, estimatedCost, reasons }, at) => ({
        provider: target.provider.name,
        model: target.model.name,
        rank: at + 1,
        estimatedCost,
        quality: target.model.quality,
        contextWindow: target.model.contextWindow,
        reasons: [...reasons],
      }));
      const [first] = candidates;
      return {
        model: first?.model ?? '',
        provider: first?.provider ?? '',
        strategy: plan.strategy,
        taskType: plan.taskKind,
        taskRule: plan.taskRule,
        estimatedInputTokens: plan.inputTokens,
        candidates,
        excluded: plan.excluded.map(({ target, rule, reason }) => ({
          provider: target.provider.name,
          model: target.model.name,
          rule,
          reason,
        })),
      };
    },
  };
}
