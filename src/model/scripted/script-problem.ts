import type * as z from 'zod'

type Issue = z.core.$ZodIssue

interface Problem {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Enough to correct a file. */
const MAX_PROBLEMS = 3

/** Why a script does not fit its schema, as a part of a sentence. */
export function scriptProblem(issues: readonly Issue[]): string {
  return issues
    .flatMap((issue) => problemsOf(issue, []))
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`))
    .join('; ')
}

/** Of alternatives those problems count that are the deepest: the author meant that alternative. */
function problemsOf(issue: Issue, above: readonly PropertyKey[]): readonly Problem[] {
  const path = [...above, ...issue.path]
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [{ path, message: issue.message }]
  const alternatives = issue.errors.map((issues) => issues.flatMap((one) => problemsOf(one, path)))
  const [best = []] = alternatives.toSorted((one, other) => depthOf(other) - depthOf(one))
  return best
}

function depthOf(problems: readonly Problem[]): number {
  return Math.max(0, ...problems.map(({ path }) => path.length))
}
