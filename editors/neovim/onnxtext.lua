-- SPDX-License-Identifier: Apache-2.0
--
-- onnxtext in Neovim (0.7 or newer, without plugins): file type, comments and language server.
-- Copy this file to ~/.config/nvim/plugin/, and install onnxtext with its extra `lsp` on the PATH of
-- Neovim: in a clone, `pip install -e '.[lsp]'`.
-- vim.g.onnxtext_command overrides the command, such as { 'python', '-m', 'onnxtext', 'lsp' }.

local group = vim.api.nvim_create_augroup('onnxtext', {})

vim.api.nvim_create_autocmd({ 'BufRead', 'BufNewFile' }, { group = group, pattern = { '*.onnxtxt', '*.onnxtext' }, command = 'setfiletype onnxtxt' })

vim.api.nvim_create_autocmd('FileType', {
  group = group,
  pattern = 'onnxtxt',
  callback = function(event)
    vim.bo[event.buf].commentstring = '# %s'
    vim.bo[event.buf].expandtab = true
    vim.bo[event.buf].shiftwidth = 2

    local command = vim.g.onnxtext_command or { 'onnxtext', 'lsp' }
    if vim.fn.executable(command[1]) == 0 then
      vim.notify_once("onnxtext: cannot find " .. command[1] .. "; in a clone: pip install -e '.[lsp]'", vim.log.levels.WARN)
      return
    end
    local file = vim.api.nvim_buf_get_name(event.buf)
    local options = { name = 'onnxtext', cmd = command, root_dir = vim.fn.fnamemodify(file, ':p:h') }
    if vim.lsp.start then -- 0.8
      vim.lsp.start(options, { bufnr = event.buf })
    else
      vim.g.onnxtext_client = vim.g.onnxtext_client or vim.lsp.start_client(options)
      vim.lsp.buf_attach_client(event.buf, vim.g.onnxtext_client)
    end
  end,
})

-- Syntax highlighting until semantic tokens arrive (Neovim 0.9), or without them.
vim.api.nvim_create_autocmd('Syntax', {
  group = group,
  pattern = 'onnxtxt',
  callback = function()
    vim.cmd([[
      syntax clear
      syntax match onnxtxtOperator /\v(\=\s*)@<=([[:alnum:]_]+\.)*[[:alnum:]_]+(\s*[<(])@=/
      syntax match onnxtxtAttribute /\v[[:alnum:]_]+(\s*[:=]\s*)@=/ contained
      syntax match onnxtxtType /\v<(float|double|u?int|bfloat|complex|bool|string|seq|map|optional|sparse_tensor|undefined)[0-9a-z]*(\s*[[( ])@=/
      syntax match onnxtxtNumber /\v-?<[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?>/
      syntax region onnxtxtAttributes start=/</ end=/>/ contains=ALL
      syntax region onnxtxtString start=/"/ skip=/\\./ end=/"/
      syntax region onnxtxtString start=/"""/ skip=/\\./ end=/"""/
      syntax match onnxtxtDecorator /@[[:alnum:]_.]\+/
      syntax match onnxtxtComment /#.*/
      highlight default link onnxtxtOperator Function
      highlight default link onnxtxtAttribute Identifier
      highlight default link onnxtxtType Type
      highlight default link onnxtxtNumber Number
      highlight default link onnxtxtString String
      highlight default link onnxtxtDecorator PreProc
      highlight default link onnxtxtComment Comment
    ]])
    vim.b.current_syntax = 'onnxtxt'
  end,
})
