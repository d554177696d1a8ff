import { hostname } from 'node:os'
import type { InputOf } from '../../verbs/reeve.ts'
import type { OptionSpecs, Options } from '../options.ts'
import { UsageError } from '../usage-error.ts'

type RuleJson = InputOf<'addRule'>['rule']

/** The options that describe a rule. */
export const RULE_OPTIONS = {
  args: { type: 'texts', value: 'argument', about: 'the first arguments of the program, one each time' },
  because: { type: 'text', value: 'text', about: 'why, for the person who is asked and for the agent' },
  rights: {
    type: 'text',
    value: 'rights',
    about: 'with commas: read, write, execute, delete, signal, grant, approve, admin',
  },
  match: { type: 'texts', value: 'example', about: 'an example that the rule must match' },
  nonmatch: { type: 'texts', value: 'example', about: 'an example that the rule must not match' },
  expires: { type: 'duration', value: 'time', about: 'it counts for this long, like 2h' },
  uses: { type: 'number', value: 'count', about: 'of an allow: it counts for this many actions' },
  delegable: { type: 'number', value: 'depth', about: 'of an allow: it may be passed on, this many deep' },
  requestable: { type: 'flag', about: 'of an ask: the agent may ask for what nothing allows' },
  reviewer: {
    type: 'text',
    value: 'reviewer',
    about: 'of an ask: what decides first, as tool:<name> or workflow:<name>; agents do not review yet',
  },
  'answer-within': { type: 'duration', value: 'time', about: 'of an ask: without an answer it ends' },
  host: { type: 'texts', value: 'host', about: 'it counts on this machine only; here: the one you are on' },
  paths: { type: 'texts', value: 'glob', about: 'of fs: and file tools: only these files' },
  env: { type: 'texts', value: 'name', about: 'of an allow: only these variables may be set' },
  constraints: {
    type: 'text',
    value: 'json',
    about: 'further constraints as JSON: maxBytes, methods, hosts, hours',
  },
} as const satisfies OptionSpecs

export type RuleOptions = Options<typeof RULE_OPTIONS>

/** The rule that the options describe. The daemon refuses an invalid one. */
export function ruleOf(effect: string, resource: string, options: RuleOptions, now: number): RuleJson {
  const { because, rights, match, nonmatch, expires, uses, delegable, requestable, reviewer, host } = options
  const constraints = constraintsOf(options)
  return {
    effect,
    resource,
    ...(rights === undefined ? {} : { rights: rights.split(',').map((right) => right.trim()) }),
    ...(Object.keys(constraints).length === 0 ? {} : { constraints }),
    ...(because === undefined ? {} : { justification: because }),
    ...(match.length === 0 ? {} : { match: [...match] }),
    ...(nonmatch.length === 0 ? {} : { nonmatch: [...nonmatch] }),
    ...(expires === undefined ? {} : { expiresAt: now + expires }),
    ...(uses === undefined ? {} : { uses }),
    ...(delegable === undefined ? {} : { delegable: { depth: delegable } }),
    ...(requestable ? { requestable } : {}),
    ...(reviewer === undefined ? {} : { reviewer }),
    ...(options['answer-within'] === undefined ? {} : { answerWithinMs: options['answer-within'] }),
    ...(host.length === 0 ? {} : { hosts: host.map((name) => (name === 'here' ? hostname() : name)) }),
  }
}

function constraintsOf({ args, paths, env, constraints }: RuleOptions): RuleJson {
  return {
    ...(constraints === undefined ? {} : parsed(constraints)),
    ...(args.length === 0 ? {} : { args: [...args] }),
    ...(paths.length === 0 ? {} : { paths: [...paths] }),
    ...(env.length === 0 ? {} : { env: [...env] }),
  }
}

function parsed(text: string): RuleJson {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RuleJson
  } catch {
    // Reported below.
  }
  throw new UsageError(
    `--constraints was given ${text}, which is no object.`,
    `For example: '{"maxBytes":1000}'`,
  )
}
