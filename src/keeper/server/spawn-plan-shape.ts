import { isObject } from '../../base/is-object.ts'

/**
 * The first error in the shape of a plan, or undefined. A daemon of the same protocol sends no malformed plan; a well-formed one
 * that can't be carried out is a failed start instead.
 */
export function faultOfSpawnPlan(plan: unknown): string | undefined {
  if (!isObject(plan)) return 'plan is missing'
  const { argv, cwd, env, pty, stdin, output, caps, limits, tree, endSignal } = plan
  const faults: [string, boolean][] = [
    ['argv', Array.isArray(argv) && argv.every(isText)],
    ['cwd', isText(cwd)],
    ['env', isObject(env) && Object.values(env).every(isText)],
    ['pty', pty === null || (isObject(pty) && areNumbers(pty, ['cols', 'rows']))],
    ['stdin', stdin === 'null' || stdin === 'pipe' || (isObject(stdin) && isText(stdin['text']))],
    ['output', output === 'merged' || output === 'tagged' || output === 'direct'],
    ['caps', isObject(caps) && areSizes(caps)],
    [
      'limits',
      isObject(limits) && areLimits(limits, ['memoryBytes', 'cpuSeconds', 'openFiles', 'outputBytes']),
    ],
    ['timeoutMs or idleTimeoutMs', areLimits(plan, ['timeoutMs', 'idleTimeoutMs'])],
    ['endSignal', isText(endSignal)],
    ['graceMs', isAtLeast(plan['graceMs'], 0)],
    ['tree', tree === 'auto' || tree === 'marker'],
    ['umask', plan['umask'] === undefined || isMode(plan['umask'])],
    ['rlimits', plan['rlimits'] === undefined || areResourceLimits(plan['rlimits'])],
  ]
  const fault = faults.find(([, isGood]) => !isGood)
  return fault === undefined ? undefined : `${fault[0]} of the plan is not as it should be`
}

type Unknown = Readonly<Record<string, unknown>>

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function areNumbers(of: Unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof of[name] === 'number')
}

function areLimits(of: Unknown, names: readonly string[]): boolean {
  return names.every((name) => of[name] === null || typeof of[name] === 'number')
}

/** A segment must have room for a byte, or rotation would never end. */
function areSizes({ headBytes, tailBytes, segmentBytes, minFreeBytes }: Unknown): boolean {
  return (
    isAtLeast(headBytes, 0) &&
    isAtLeast(tailBytes, 0) &&
    isAtLeast(segmentBytes, 1) &&
    isAtLeast(minFreeBytes, 0)
  )
}

function isMode(value: unknown): boolean {
  return isAtLeast(value, 0) && Number.isInteger(value) && Number(value) <= 0o777
}

function areResourceLimits(value: unknown): boolean {
  const isLimit = (limit: unknown) => limit === null || isAtLeast(limit, 0)
  return (
    isObject(value) &&
    Object.entries(value).every(
      ([name, pair]) =>
        /^[a-z]+$/.test(name) && Array.isArray(pair) && pair.length === 2 && pair.every(isLimit),
    )
  )
}

function isAtLeast(value: unknown, least: number): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= least
}
