import type { Need } from '../../../core/capability/need.ts'
import type { MayRead } from '../../../core/capability/readable-below.ts'
import type { Ruling } from '../../../core/capability/ruling.ts'
import type { Pid } from '../../../core/process/pid.ts'
import type { AgentTool } from '../agent-tool.ts'
import { editFileTool } from './edit-file.ts'
import type { FileTracker } from './file-tracker.ts'
import { listFilesTool } from './list-files.ts'
import { readFileTool } from './read-file.ts'
import { searchFilesTool } from './search-files.ts'
import { writeFileTool } from './write-file.ts'

export interface FileToolParts {
  /** The workspace: absolute and canonical. */
  readonly root: string
  /** The agent that the tools belong to. */
  readonly agent: Pid
  /** One for all agents of this program. */
  readonly tracker: FileTracker
  /** Masks secrets in what people are shown. */
  readonly mask: (text: string) => string
  /** Whether a capability names a path outside of the workspace: `isNamed` of the agent's rule sets. */
  readonly isNamed: (need: Need) => boolean | Promise<boolean>
  /** What the agent's rules say about an effect inside a running call. */
  readonly ruling: (need: Need) => Promise<Ruling>
  /** Which files below a folder may be read by a call that may read the folder: `readable` of the agent's rules. */
  readonly readable: (folder: Need) => MayRead | Promise<MayRead>
  /** The agent has long-term memory: its folders are for the tools of memory alone. */
  readonly hasMemory?: boolean
  /** Throws if another agent alone may write the file. Asked just before each write, by the call. */
  readonly checkWrite: (path: string, call: Pid) => Promise<void>
}

/** The file tools of one agent. */
export function fileTools(parts: FileToolParts): readonly AgentTool[] {
  return [
    readFileTool(parts),
    listFilesTool(parts),
    searchFilesTool(parts),
    editFileTool(parts),
    writeFileTool(parts),
  ]
}
