import type { PromptItem } from '../model/prompt.ts'

/** A skill as the prompt names it. */
export interface SkillLine {
  readonly name: string
  readonly description: string
}

export const USE_SKILL = 'use_skill'
export const UNLOAD_SKILL = 'unload_skill'

/** Of the prompt, for the names and descriptions of skills: about 1,000 tokens. */
const MAX_LIST_CHARS = 3_500

/** The skills that an agent may use, for its prompt. Those that do not fit are counted; the tool lists them. */
export function skillsText(skills: readonly SkillLine[]): string {
  const lines: string[] = []
  let chars = 0
  for (const { name, description } of skills) {
    const line = `- ${name}: ${description.replaceAll(/\s+/g, ' ')}`
    chars += line.length
    if (chars > MAX_LIST_CHARS) break
    lines.push(line)
  }
  const left = skills.length - lines.length
  return [
    `Skills: instructions for special work. Call ${USE_SKILL} with the name of one before you do such work.`,
    ...lines,
    ...(left === 0 ? [] : [`(${left} more: call ${USE_SKILL} without a name to list them.)`]),
  ].join('\n')
}

/** The skills that are loaded at the end of these items. `before`: those that an earlier summary has kept. */
export function loadedSkills(items: readonly PromptItem[], before: readonly string[]): readonly string[] {
  const loaded = new Set(before)
  const calls = new Map<string, { readonly tool: string; readonly name: string }>()
  for (const item of items) {
    if (item.type === 'assistant')
      for (const part of item.parts)
        if (part.type === 'tool_call' && (part.tool === USE_SKILL || part.tool === UNLOAD_SKILL)) {
          const { name, file } = part.input
          if (typeof name === 'string' && file === undefined)
            calls.set(part.callId, { tool: part.tool, name })
        }
    if (item.type !== 'tool_results') continue
    for (const { callId, isError } of item.results) {
      const call = calls.get(callId)
      if (call === undefined || isError) continue
      if (call.tool === USE_SKILL) loaded.add(call.name)
      else loaded.delete(call.name)
    }
  }
  return [...loaded]
}

/** The loaded skills, verbatim, behind the summary of a session. */
export function keptSkillsText(skills: readonly { readonly name: string; readonly text: string }[]): string {
  return skills.map(({ name, text }) => `The loaded skill ${name}:\n\n${text}`).join('\n\n')
}
