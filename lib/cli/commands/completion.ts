import type { Command } from '../command.js'
import { SHELLS } from '../defaults.js'

export const completion: Command = {
  name: 'heapflow completion',
  summary: 'print the completion script of a shell',
  operands: SHELLS.join('|'),
  description:
    'The script completes the names of commands, their flags, the values of flags that take one of a few, and files. ' +
    'Load it in the start-up file of the shell, as in the examples, or store it where the shell looks for completions.',
  flags: [],
  examples: {
    'source <(heapflow completion bash)': 'bash: a line for ~/.bashrc',
    'source <(heapflow completion zsh)': 'zsh: a line for ~/.zshrc, after compinit',
    'heapflow completion fish > ~/.config/fish/completions/heapflow.fish': 'fish: once, and again after an update',
  },
  run: async (args) => (await import('./completion.run.js')).runCompletion(args),
}
