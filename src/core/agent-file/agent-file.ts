import type { Hook } from '../agent/hooks.ts'
import type { Image } from '../image/image.ts'

export const AGENT_FILE_KINDS = ['image', 'skill', 'command', 'hooks'] as const
export type AgentFileKind = (typeof AGENT_FILE_KINDS)[number]

/** A file, or the folder of a skill, that defines something for agents. */
export interface AgentFile {
  readonly kind: AgentFileKind
  readonly name: string
  readonly description: string
  /** Absolute. Of a skill its folder. */
  readonly path: string
  /** The folder that it is for; null: the home. */
  readonly workspace: string | null
  /** Of the content of the file, or of all files of a skill. */
  readonly hash: string
  /** Why it cannot be used. */
  readonly problem: string | null
  /** Absent if there is a problem. */
  readonly content?: AgentFileContent
}

export interface SkillFile {
  /** Relative to the folder of the skill. */
  readonly path: string
  /** Of its content, which the hash of the skill covers. */
  readonly hash: string
}

export type AgentFileContent =
  | { readonly kind: 'image'; readonly image: Image }
  | {
      readonly kind: 'skill'
      /** The text of `SKILL.md` behind its front matter. */
      readonly body: string
      /** Of the folder, besides `SKILL.md`. */
      readonly files: readonly SkillFile[]
      /** Tools that it says it uses. They are asked for, and never granted. */
      readonly allowedTools: readonly string[]
    }
  | { readonly kind: 'command'; readonly body: string; readonly argumentHint: string }
  | { readonly kind: 'hooks'; readonly hooks: readonly Hook[] }
