import type { AgentFile, AgentFileKind } from '../core/agent-file/agent-file.ts'
import type { Amounts } from '../core/allowance/amounts.ts'
import type { Image } from '../core/image/image.ts'
import type { MemorySpec } from '../core/memory/memory-spec.ts'

/** Reads the files that define something for agents, on the host that runs them. */
export interface AgentFileReader {
  /** Those of a folder, of all folders above it, and of the home; null: of the home alone. With a kind, those of the kind. */
  find(folder: string | null, kind?: AgentFileKind): Promise<readonly AgentFile[]>
  /** An image as a file of this name has it. */
  parseImage(text: string, file: string): Promise<ParsedImage>
}

export type ParsedImage =
  | { readonly type: 'image'; readonly image: Image }
  | { readonly type: 'problem'; readonly message: string }

/** What an agent without a parent gets where its request is silent. */
export interface AgentDefaults {
  readonly image?: string
  readonly goal?: string
  readonly budget?: Amounts
  readonly memory?: MemorySpec
}
