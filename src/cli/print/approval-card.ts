import { isObject } from '../../base/is-object.ts'
import { askerChain } from '../../verbs/asker-chain.ts'
import { changeFacts, isWhole } from '../../verbs/change-facts.ts'
import type { OutputOf } from '../../verbs/reeve.ts'
import { quoted } from './status.ts'
import { clockTime } from './times.ts'

type Approval = OutputOf<'approval'>['approval']
type Fact = readonly [key: string, value: string | undefined]

/** The names of processes and sessions that people know, by pid and by `session:<id>`. */
export type Names = ReadonlyMap<string, string>

/** Everything that a person needs to answer a request, as `key  value` lines. */
export function approvalCard(approval: Approval, names: Names = new Map()): readonly Fact[] {
  const { id, pid, state, askedAt, person, expiresAt, request, answer } = approval
  return [
    ['approval', id],
    ['state', answer === null ? state : `${state}: ${answerText(answer)}`],
    ['process', pid],
    ['asked', clockTime(askedAt)],
    ['expires', expiresAt === null ? undefined : clockTime(expiresAt)],
    ['person', person ?? undefined],
    ['who asks', askerChain(request).map(named(names)).join(' below ')],
    ...(request.type === 'question' ? questionFacts(request) : permissionFacts(request)),
    ['its reason', request.reason ?? undefined],
    ...(state === 'pending' && request.type === 'permission' ? choiceFacts(id, request) : []),
    ...(answer === null ? [] : answerFacts(answer)),
  ]
}

function named(names: Names): (who: string) => string {
  return (who) => {
    const name = names.get(who.replace(/^process:/, ''))
    return name === undefined ? who : `${name} (${who})`
  }
}

function questionFacts({
  text,
  choices,
}: Extract<Approval['request'], { type: 'question' }>): readonly Fact[] {
  return [
    ['question', text],
    ['choices', choices?.join(', ')],
  ]
}

function permissionFacts(request: Extract<Approval['request'], { type: 'permission' }>): readonly Fact[] {
  const { action, variables, needs, rule, justification, doubt, defaultToNo, reviewer } = request
  const shown = Object.entries(variables).map(([name, value]): Fact => [`$${name}`, value])
  return [
    ...actFacts(request),
    ['in folder', action.cwd ?? undefined],
    ['on host', action.host ?? undefined],
    ...shown,
    ['touches', needs.join('; ')],
    ['rule', `${rule.id} of ${rule.subject}: ${rule.text}`],
    ['because', justification ?? undefined],
    ['in doubt', doubt === undefined ? undefined : `${doubt}, so the rule may apply`],
    ['reviewer', reviewer ?? undefined],
    ['default', defaultToNo ? 'no: it cannot be undone' : undefined],
  ]
}

function choiceFacts(
  id: string,
  { grants, alwaysRule }: Extract<Approval['request'], { type: 'permission' }>,
): readonly Fact[] {
  const wider = grants.filter((grant) => grant !== 'once').map((grant) => `--for ${grant}`)
  return [
    ['once', `reeve approve ${id}`],
    ['also again', wider.length === 0 ? undefined : `reeve approve ${id} ${wider.join(' | ')}`],
    ['or', `reeve deny ${id} [advice]`],
    ['always stores', alwaysRule === null ? undefined : storedText(alwaysRule)],
  ]
}

/** The rule that `always` stores, as `reeve policy list` will name it. */
export function storedText(
  {
    id,
    effect,
    rights,
    resource,
    constraints,
  }: NonNullable<Extract<Approval['request'], { type: 'permission' }>['alwaysRule']>,
  subject = 'home',
): string {
  const args = (constraints?.args ?? []).map((arg) => (typeof arg === 'string' ? arg : `{${arg.join()}}`))
  const what = [resource, ...args.map((arg) => (/^[^\s"']+$/.test(arg) ? arg : JSON.stringify(arg)))]
  return `${id} of ${subject}: ${effect}  ${rights.join()} ${what.join(' ')}  only this exact action`
}

function answerFacts(answer: NonNullable<Approval['answer']>): readonly Fact[] {
  switch (answer.type) {
    case 'approved':
      return [['ran instead', answer.spec === null ? undefined : JSON.stringify(answer.spec)]]
    case 'denied':
      return [['advice', answer.advice ?? undefined]]
    case 'replied':
      return [['reply', typeof answer.value === 'string' ? answer.value : JSON.stringify(answer.value)]]
  }
}

/** Code is shown in its lines: a person has to read it. */
function inputFacts(input: unknown): readonly Fact[] {
  if (!isObject(input) || typeof input['source'] !== 'string') return [['input', JSON.stringify(input)]]
  const { source, ...rest } = input
  const lines = String(source)
    .split('\n')
    .map((line, index): Fact => [index === 0 ? 'source' : '', line])
  return [['input', JSON.stringify(rest)], ...lines]
}

type Permission = Extract<Approval['request'], { type: 'permission' }>
type Act = Permission['action']['act']

function actFacts({ action: { act }, change }: Permission): readonly Fact[] {
  switch (act.type) {
    case 'command':
      return [
        ['runs', act.argv === undefined ? act.run : JSON.stringify(act.argv)],
        ['checks with', act.readyCommand],
        ...act.programs.map(({ name, real }): Fact => ['program', `${name} is ${real ?? 'not found'}`]),
        ['input', inputText(act.stdin)],
        ['terminal', act.pty === true ? 'yes: it reads what is typed later' : undefined],
      ]
    case 'tool':
      return [
        ['calls tool', act.tool],
        ...(change === undefined ? [] : changeFacts(change)),
        ...inputFacts(change !== undefined && isWhole(change) ? undefined : act.input),
      ]
    case 'workflow':
      return [
        ['runs workflow', act.workflow],
        ['input', JSON.stringify(act.input)],
      ]
    case 'agent':
      return [
        ['starts agent', act.agent],
        ['goal', JSON.stringify(act.goal)],
      ]
  }
}

function inputText(stdin: Extract<Act, { type: 'command' }>['stdin']): string | undefined {
  if (stdin === 'null') return undefined
  return stdin === 'pipe' ? 'open: it reads what is written later' : JSON.stringify(stdin.text)
}

/** What an edited spec runs; the whole spec if it is no command. */
export function specText(spec: Readonly<Record<string, unknown>>): string {
  const { run, argv } = spec
  if (typeof run === 'string') return run
  return Array.isArray(argv)
    ? argv.map((argument) => quoted(String(argument))).join(' ')
    : JSON.stringify(spec)
}

/** How a request was answered, in a few words. */
export function answerText(answer: NonNullable<Approval['answer']>): string {
  const { type, by } = answer
  if (type !== 'approved') return `${type} by ${by}`
  if (answer.rule !== null) return `approved by the rule ${answer.rule.id} of ${answer.rule.subject}`
  const grant = answer.grant === 'once' ? '' : ` for ${answer.grant}`
  return `approved${answer.spec === null ? '' : ' with changes'} by ${by}${grant}`
}
