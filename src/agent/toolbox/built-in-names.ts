import { processToolOf } from '../../core/tool/built-in-name.ts'
import type { Executor } from '../../kernel/executor.ts'

/** The tools of this program. A starting kernel claims their calls before any agent runs, and before the tools are loaded. */
const BUILT_IN_NAMES = [
  ...['read_file', 'list_files', 'search_files', 'edit_file', 'write_file', 'read_result', 'tool_search'],
  ...['run_command', 'command_output', 'command_input', 'stop_command', 'list_processes'],
  ...['ask_human', 'tell_human', 'web_fetch', 'plan', 'use_skill', 'unload_skill'],
  ...['agent_spawn', 'agent_send', 'agent_wait', 'agent_stop', 'agent_read', 'agent_list'],
  ...['agent_restore', 'worktree_merge'],
]

/** The names of built-in tools that are served here: those of Reeve, and those of further tools as they become known. */
export class BuiltInNames {
  readonly #names = new Set(BUILT_IN_NAMES)

  get serves(): Executor['serves'] {
    return [{ kind: 'tool', targets: [...this.#names].map(processToolOf) }]
  }

  /** Returns whether one is new: the kernel then announces it. */
  learn(names: Iterable<string>): boolean {
    const before = this.#names.size
    for (const name of names) this.#names.add(name)
    return this.#names.size > before
  }
}
