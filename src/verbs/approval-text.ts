import { askerChain } from './asker-chain.ts'
import { changeFacts, isWhole } from './change-facts.ts'
import type { OutputOf } from './reeve.ts'

type Approval = OutputOf<'approval'>['approval']

type Permission = Extract<Approval['request'], { type: 'permission' }>

/** The request, its asker and the reason: everything that a person needs to decide. */
export function approvalText(approval: Approval): string {
  const { request } = approval
  const lines =
    request.type === 'question'
      ? [`Question: ${request.text}`, ...choiceLines(request.choices)]
      : permissionLines(request)
  return [...lines, ...askerLines(approval)].map(visible).map(asOneFact).join('\n')
}

/** How an approval was settled, and by whom. */
export function decisionText({ state, answer }: Approval): string {
  if (answer === null) return state
  switch (answer.type) {
    case 'approved':
      if (answer.rule !== null) return `approved by the rule ${answer.rule.id} of ${answer.rule.subject}`
      if (answer.spec !== null)
        return `approved with changes by ${answer.by}; ran instead: ${JSON.stringify(answer.spec)}`
      return `approved by ${answer.by}${answer.grant === 'once' ? '' : ` for ${answer.grant}`}`
    case 'denied':
      return `denied by ${answer.by}${answer.advice === null ? '' : ` (advice: ${JSON.stringify(answer.advice)})`}`
    case 'replied':
      return `replied by ${answer.by}: ${JSON.stringify(answer.value)}`
  }
}

/** The rule that asks, why, and why it may be about something else. */
export function ruleText({ request }: Approval): string | null {
  if (request.type !== 'permission') return null
  const { rule, justification, doubt } = request
  const because = justification === null || rule.text.includes(justification) ? '' : ` (${justification})`
  const may = doubt === undefined ? '' : `; it may apply, because ${doubt}`
  return visible(`${rule.id} of ${rule.subject}: ${rule.text.replaceAll(/ +/g, ' ')}${because}${may}`)
}

function choiceLines(choices: readonly string[] | null): string[] {
  return choices === null ? [] : [`Choices: ${choices.join(' | ')}`]
}

function permissionLines(request: Permission): string[] {
  const { action, variables, needs, defaultToNo } = request
  const { cwd, host } = action
  return [
    ...actLines(request),
    ...(cwd === null ? [] : [`Folder: ${cwd}`]),
    ...(host === null ? [] : [`Host: ${host}`]),
    ...Object.entries(variables).map(([name, value]) => `Variable: ${name}=${value}`),
    ...(needs.length === 0 ? [] : [`Needs: ${needs.join('; ')}`]),
    ...(defaultToNo ? ['It cannot be undone.'] : []),
  ]
}

function actLines({ action: { act }, change }: Permission): string[] {
  switch (act.type) {
    case 'command': {
      const { run, argv = [], readyCommand, programs, stdin, pty } = act
      return [
        `Run: ${run ?? argv.map(quoted).join(' ')}`,
        ...(readyCommand === undefined ? [] : [`Check if it is ready with: ${readyCommand}`]),
        ...programs.flatMap(({ name, real }) =>
          real === null || real === name ? [] : [`Program: ${name} is ${real}`],
        ),
        ...(stdin === 'null' ? [] : [`Standard input: ${stdin === 'pipe' ? OPEN : stdin.text}`]),
        ...(pty === true ? [`Terminal: ${OPEN}`] : []),
      ]
    }
    case 'tool':
      return [
        `Call the tool: ${act.tool}`,
        ...(change === undefined ? [] : changeLines(change)),
        ...(change !== undefined && isWhole(change) ? [] : [`Input: ${JSON.stringify(act.input)}`]),
      ]
    case 'workflow':
      return [`Run the workflow: ${act.workflow}`, `Input: ${JSON.stringify(act.input)}`]
    case 'agent':
      return [`Start the agent: ${act.agent}`, `Goal: ${JSON.stringify(act.goal)}`]
  }
}

function changeLines(change: NonNullable<Permission['change']>): string[] {
  return changeFacts(change).map(([key, value]) => {
    const name = `${key.charAt(0).toUpperCase()}${key.slice(1)}:`
    return value.includes('\n') ? `${name}\n${value}` : `${name} ${value}`
  })
}

function askerLines(approval: Approval): string[] {
  const { id, pid, request, expiresAt } = approval
  const rule = ruleText(approval)
  return [
    `Asked by: ${askerChain(request).join(' below ')}, for ${pid}`,
    ...(rule === null ? [] : [`Rule: ${rule}`]),
    ...(expiresAt === null ? [] : [`Expires: ${new Date(expiresAt).toISOString()}`]),
    `Approval: ${id}`,
    ...(request.reason === null ? [] : [`Its reason: ${request.reason}`]),
  ]
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

const OPEN = 'open: it reads what is written later'

/** Marks the further lines of a text: without that an agent could write a line that looks like another fact. */
function asOneFact(text: string): string {
  return text.replaceAll('\n', '\n  | ')
}

const HIDDEN = /(?![\n\t])[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

/** Makes characters visible that would hide or reorder others: an agent chose this text, and a person decides by it. */
function visible(text: string): string {
  return text.replaceAll(
    HIDDEN,
    (character) => `<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`,
  )
}
