import { canonical } from '../json/canonical.ts'
import { asJson, type Json, objectOf } from '../json/json.ts'
import type { ToolDeclaration } from '../model/prompt.ts'
import { type SkillLine, skillsText } from './skills.ts'
import type { Part } from './state.ts'

/** The current sources of an agent's system prompt. */
export interface ContextNow {
  /** Given with the agent; null for the built-in one. */
  readonly system: string | null
  readonly workspace: string | null
  /** The day, as `2026-11-18`. */
  readonly date: string
  readonly instructions: readonly { readonly path: string; readonly text: string; readonly hash: string }[]
  readonly tools: readonly ToolDeclaration[]
  readonly skills: readonly SkillLine[]
  /** The index of long-term memory, for a segment that begins. It changes no segment. */
  readonly memory?: string
}

/** The parts of the event that begins a segment: the system prompt verbatim, its tools, and their sources. */
export function contextParts(now: ContextNow): readonly Part[] {
  return [
    { type: 'system', text: systemText(now) },
    { type: 'tools', declarations: asJson(now.tools) },
    sourcesPart(now),
  ]
}

/**
 * The parts of a system item that tells a model the changes since its system prompt was written; null if there are none. Tools are
 * added and never removed within a segment, so that earlier declarations stay as they were.
 */
export function changedContext(
  now: ContextNow,
  told: { readonly tools: readonly ToolDeclaration[] | null; readonly sources: Json },
): readonly Part[] | null {
  const sources = objectOf(told.sources)
  const files = objectOf(sources['files'] ?? null)
  const changed = now.instructions.filter(({ path, hash }) => files[path] !== hash)
  const present = new Set(now.instructions.map(({ path }) => path))
  const gone = Object.keys(files).filter((path) => !present.has(path))
  const declared = new Map((told.tools ?? []).map((tool) => [tool.name, tool]))
  const added = now.tools.filter(({ name }) => !declared.has(name))
  const skills = skillsMark(now.skills)
  const lines = [
    ...((sources['skills'] ?? '') === skills ? [] : [skillsText(now.skills)]),
    ...(sources['date'] === now.date ? [] : [`The date is ${now.date}.`]),
    ...changed.map(instructionsText),
    ...gone.map((path) => `${path} is gone: its instructions do not hold any more.`),
    ...(added.length === 0 ? [] : [`New tools: ${added.map(({ name }) => name).join(', ')}.`]),
  ]
  if (lines.length === 0) return null
  return [
    { type: 'text', text: lines.join('\n\n') },
    ...(added.length === 0
      ? []
      : [{ type: 'tools', declarations: asJson([...declared.values(), ...added]) }]),
    sourcesPart(now),
  ]
}

/** The paths of the instructions that the model was told. */
export function toldInstructions(sources: Json): readonly string[] {
  return Object.keys(objectOf(objectOf(sources)['files'] ?? null))
}

/** Equal for equal changes: the key of the system item. */
export function contextKey(parts: readonly Part[]): string {
  return canonical(asJson(parts))
}

function sourcesPart({ date, instructions, skills }: ContextNow): Part {
  const files = Object.fromEntries(instructions.map(({ path, hash }) => [path, hash]))
  const mark = skillsMark(skills)
  return { type: 'sources', date, files, ...(mark === '' ? {} : { skills: mark }) }
}

/** Equal for equal lists; empty without a skill. */
function skillsMark(skills: readonly SkillLine[]): string {
  return skills.length === 0 ? '' : skillsText(skills)
}

function systemText({ system, workspace, date, instructions, skills, memory }: ContextNow): string {
  return [
    system ?? DEFAULT_SYSTEM,
    [...(workspace === null ? [] : [`Workspace: ${workspace}`]), `Date: ${date}`].join('\n'),
    ...instructions.map(instructionsText),
    ...(skills.length === 0 ? [] : [skillsText(skills)]),
    ...(memory === undefined ? [] : [memory]),
  ].join('\n\n')
}

function instructionsText({ path, text }: ContextNow['instructions'][number]): string {
  return `Instructions from ${path}:\n\n${text.trimEnd()}`
}

const DEFAULT_SYSTEM = [
  'You are a software engineer at work in a folder of files, with tools to read, search and change them and to run commands.',
  'Work until the request is done. Look at the code before you change it, keep changes small, and check them by running the tests or the program.',
  'Everything you start is a process that outlives a crash of the program that runs you: a call that was interrupted says so, and you check its effect before you repeat it.',
  'When you are done, say briefly what you did and what you left open.',
].join('\n')
