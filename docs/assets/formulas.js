// How MathJax reads and shows the formulas that arithmatex has marked.
window.MathJax = {
  tex: {
    inlineMath: [["\\(", "\\)"]],
    displayMath: [["\\[", "\\]"]],
  },
  chtml: { matchFontHeight: false, scale: 1.1 },
  options: { ignoreHtmlClass: ".*|", processHtmlClass: "arithmatex", enableMenu: false },
};
