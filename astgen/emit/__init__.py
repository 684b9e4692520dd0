"""The simplified form as C text, and the way back."""
