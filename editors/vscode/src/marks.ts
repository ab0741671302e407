// Marks beside the lines of sources that pages describe and no longer match.

import * as vscode from "vscode";

/** Keep the marks of visible editors as the server's diagnostics are. */
export function markSources(context: vscode.ExtensionContext): vscode.Disposable {
  const type = vscode.window.createTextEditorDecorationType({
    gutterIconPath: vscode.Uri.joinPath(context.extensionUri, "media/stale.svg"),
    gutterIconSize: "contain",
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.warningForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  const update = (): void => {
    for (const editor of vscode.window.visibleTextEditors) {
      const found = vscode.languages
        .getDiagnostics(editor.document.uri)
        .filter((diagnostic) => diagnostic.source === "ubp" && diagnostic.code === "described-by");
      editor.setDecorations(
        type,
        found.map(({ range }) => range),
      );
    }
  };
  update();
  return vscode.Disposable.from(
    type,
    vscode.languages.onDidChangeDiagnostics(update),
    vscode.window.onDidChangeVisibleTextEditors(update),
  );
}
